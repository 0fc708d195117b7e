import { Trans } from '@lingui/react/macro'
import { plural, t } from '@lingui/core/macro'
import { Alert, Anchor, Text } from '@mantine/core'
import { IconLock } from '@tabler/icons-react'
import { Fragment } from 'react'
import { useAccount } from '../../session/session.ts'
import { useMembers } from '../people/use-people.ts'

/** Explains to viewers why they cannot make changes, and whom to ask. */
export function ViewerNotice({ what }: { what: string }) {
  const { canChange } = useAccount()
  return canChange ? null : <Notice what={what} />
}

function Notice({ what }: { what: string }) {
  const owners = (useMembers().data?.items ?? []).filter(({ role }) => role === 'owner')
  return (
    <Alert color="gray" icon={<IconLock />} title={t`You have read-only access`} mb="lg">
      <Text size="sm">
        <Trans>Your role in this account is viewer, and only owners can {what}.</Trans>{' '}
        {owners.length === 0
          ? t`Ask an owner of this account.`
          : `${plural(owners.length, { one: 'Ask its owner:', other: 'Ask one of its owners:' })} `}
        {owners.map(({ email }, index) => (
          <Fragment key={email}>
            {index > 0 && ', '}
            <Anchor href={`mailto:${email}`} inherit underline="always">
              {email}
            </Anchor>
          </Fragment>
        ))}
        {owners.length > 0 && '.'}
      </Text>
    </Alert>
  )
}
