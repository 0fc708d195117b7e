import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import type { PendingInvitation } from '../../../../contracts/dashboard/member.ts'
import { api } from '../../api/client.ts'
import { notifySuccess, useChange } from '../../api/use-change.ts'
import { translate } from '../../language/i18n.ts'
import { useAccount } from '../../session/session.ts'
import { useSignInOptions } from '../../session/sign-in.ts'
import { StatusBadge } from '../../ui/badges.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmModal, Modal } from '../../ui/dialog.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { InvitationLink } from '../../ui/invitation-link.tsx'
import { Section } from '../../ui/page.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { ItemsSkeleton } from '../../ui/skeletons.tsx'
import { Item, ItemList } from '../../ui/lists.tsx'
import { peopleKey, roleNames, useInvitations } from './use-people.ts'

export function InvitationsSection() {
  const { data, error, isPending, refetch } = useInvitations()
  return (
    <Section title={t`Pending invitations`} description={t`Each link works once and expires after 24 hours.`}>
      {isPending && <ItemsSkeleton items={1} />}
      {error && <ErrorAlert error={error} onRetry={() => refetch()} />}
      {data?.items.length === 0 && <Text size="sm" c="dimmed">{t`No invitations are pending.`}</Text>}
      <ItemList label={t`Pending invitations`}>
        {data?.items.map((invitation) => (
          <InvitationRow key={invitation.email} invitation={invitation} />
        ))}
      </ItemList>
    </Section>
  )
}

function InvitationRow({ invitation }: { invitation: PendingInvitation }) {
  const { email, role, expiresAt, invitedBy, emailWaiting } = invitation
  const { accountId } = useAccount()
  const { resetsByEmail: sendsEmail } = useSignInOptions()
  const [confirming, { open, close }] = useDisclosure()
  const revoke = useChange({
    change: () => api.member.revokeInvitation.mutate({ accountId, email }),
    invalidates: [peopleKey(accountId)],
    done: t`Invitation revoked.`,
    onDone: close,
  })
  const [link, setLink] = useState<string>()
  const again = useChange({
    change: () => api.member.invite.mutate({ accountId, email, role }),
    invalidates: [peopleKey(accountId)],
    onDone: (sent) =>
      sent.link === undefined
        ? notifySuccess(t`A new link is on its way to ${email}. The previous one no longer works.`)
        : setLink(sent.link),
  })
  return (
    <Item
      name={
        <Group gap="xs">
          {email}
          {emailWaiting && <StatusBadge tone="warning">{t`Email not sent yet`}</StatusBadge>}
        </Group>
      }
      description={
        <>
          {translate(roleNames[role])},{' '}
          <Trans>
            expires <DateTime at={expiresAt} />
          </Trans>
          , {invitedBy === undefined ? t`invited by an operator` : t`invited by ${invitedBy}`}
        </>
      }
    >
      <Button
        variant="default"
        change={again}
        aria-label={sendsEmail ? t`Send again to ${email}` : t`New link for ${email}`}
      >
        {sendsEmail ? t`Send again` : t`New link`}
      </Button>
      <Button variant="default" onClick={open} aria-label={t`Revoke the invitation of ${email}`}>{t`Revoke`}</Button>
      {/* A click outside would discard the link, which is not shown again. */}
      <Modal
        opened={link !== undefined}
        onClose={() => setLink(undefined)}
        title={t`New invitation link`}
        closeOnClickOutside={false}
      >
        {link !== undefined && <NewLink email={email} link={link} onClose={() => setLink(undefined)} />}
      </Modal>
      <ConfirmModal
        opened={confirming}
        onClose={close}
        title={t`Revoke this invitation?`}
        consequence={t`The invitation link for ${email} stops working.`}
        confirmLabel={t`Revoke`}
        change={revoke}
      />
    </Item>
  )
}

/** For a server that sends no email. Links are not stored, so this shows a new one. */
function NewLink({ email, link, onClose }: { email: string; link: string; onClose: () => void }) {
  return (
    <Stack>
      <Text size="sm">
        <Trans>
          This server does not send email. Send the link to {email} yourself. The previous link no longer works, and
          this one is not shown again.
        </Trans>
      </Text>
      <InvitationLink link={link} />
      <Group justify="flex-end">
        <Button onClick={onClose}>{t`Done`}</Button>
      </Group>
    </Stack>
  )
}
