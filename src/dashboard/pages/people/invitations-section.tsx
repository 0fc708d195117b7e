import { Button, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { PendingInvitation } from '../../../../contracts/dashboard/member.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { StatusBadge } from '../../ui/badges.tsx'
import { ConfirmModal } from '../../ui/confirm-modal.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { Section } from '../../ui/page.tsx'
import { ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { PersonList, PersonRow } from './person-row.tsx'
import { peopleKey, roleNames, useInvitations } from './use-people.ts'

export function InvitationsSection() {
  const { data, error, isPending, refetch } = useInvitations()
  return (
    <Section title="Pending invitations" description="Each link works once and expires after one day.">
      {isPending && <LoadingSkeleton lines={2} />}
      {error && <ErrorAlert error={error} onRetry={() => refetch()} />}
      {data?.items.length === 0 && (
        <Text size="sm" c="dimmed">
          No invitations are pending.
        </Text>
      )}
      <PersonList label="Pending invitations">
        {data?.items.map((invitation, index) => (
          <InvitationRow key={invitation.email} invitation={invitation} isFirst={index === 0} />
        ))}
      </PersonList>
    </Section>
  )
}

function InvitationRow({ invitation, isFirst }: { invitation: PendingInvitation; isFirst: boolean }) {
  const { email, role, expiresAt, invitedBy, emailWaiting } = invitation
  const { accountId } = useAccount()
  const [confirming, { open, close }] = useDisclosure()
  const revoke = useChange({
    change: () => api.member.revokeInvitation.mutate({ accountId, email }),
    invalidates: [peopleKey(accountId)],
    done: 'Invitation revoked.',
    onDone: close,
  })
  return (
    <PersonRow
      isFirst={isFirst}
      name={
        <Group gap="xs">
          {email}
          {emailWaiting && <StatusBadge tone="warning">Email not sent yet</StatusBadge>}
        </Group>
      }
      description={
        <>
          {roleNames[role]}, expires <DateTime at={expiresAt} />, invited by {invitedBy ?? 'an operator'}
        </>
      }
    >
      <Button variant="default" onClick={open} aria-label={`Revoke the invitation of ${email}`}>
        Revoke
      </Button>
      <ConfirmModal
        opened={confirming}
        onClose={close}
        title="Revoke this invitation?"
        consequence={`The invitation link for ${email} stops working.`}
        confirmLabel="Revoke"
        pending={revoke.isPending}
        onConfirm={() => revoke.mutate()}
      />
    </PersonRow>
  )
}
