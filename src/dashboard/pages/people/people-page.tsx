import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useDisclosure } from '@mantine/hooks'
import { IconUserPlus } from '@tabler/icons-react'
import { useEffect } from 'react'
import { useLocation } from 'react-router'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { PageHeader, Section } from '../../ui/page.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { ItemsSkeleton } from '../../ui/skeletons.tsx'
import { InvitationsSection } from './invitations-section.tsx'
import { InviteModal } from './invite-modal.tsx'
import { MemberList } from './member-list.tsx'
import { useMembers } from './use-people.ts'

export function PeoplePage() {
  const { name, canChange } = useAccount()
  const { data, error, isPending, refetch } = useMembers()
  const [inviting, { open, close }] = useDisclosure()
  const { hash, key } = useLocation()
  useEffect(() => {
    if (hash === '#invite' && canChange) open()
  }, [hash, key, canChange, open])
  return (
    <>
      <PageHeader
        title={t`People`}
        description={t`Who can sign in to ${name}. Owners have full access, viewers have read-only access.`}
        actions={
          <ChangeButton leftSection={<IconUserPlus size={16} />} onClick={open}>
            <Trans>Invite</Trans>
          </ChangeButton>
        }
      />
      <Section title={t`Members`}>
        {isPending && <ItemsSkeleton />}
        {error && <ErrorAlert error={error} onRetry={() => refetch()} />}
        {data && <MemberList members={data.items} />}
      </Section>
      {canChange && <InvitationsSection />}
      <InviteModal opened={inviting} onClose={close} />
    </>
  )
}
