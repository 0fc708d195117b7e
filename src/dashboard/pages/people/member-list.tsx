import { Button, Group, NativeSelect, Text } from '@mantine/core'
import { useState } from 'react'
import type { Member } from '../../../../contracts/dashboard/member.ts'
import type { Role } from '../../../../contracts/procedure.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { sessionKey, useAccount, useUser } from '../../session/session.ts'
import { StatusBadge } from '../../ui/badges.tsx'
import { ConfirmModal } from '../../ui/confirm-modal.tsx'
import { PersonList, PersonRow } from './person-row.tsx'
import { peopleKey, roleNames } from './use-people.ts'

export function MemberList({ members }: { members: Member[] }) {
  const { canChange } = useAccount()
  const { email: own } = useUser()
  const isOnlyOwner = members.filter(({ role }) => role === 'owner').length === 1
  return (
    <PersonList label="Members">
      {members.map((member, index) => (
        <PersonRow
          key={member.email}
          isFirst={index === 0}
          name={<MemberName member={member} isYou={member.email === own} />}
          description={member.email}
        >
          {canChange && !(isOnlyOwner && member.role === 'owner') ? (
            <MemberActions member={member} isYou={member.email === own} />
          ) : (
            <Text size="sm" c="dimmed">
              {canChange ? 'Only owner' : roleNames[member.role]}
            </Text>
          )}
        </PersonRow>
      ))}
    </PersonList>
  )
}

function MemberName({ member, isYou }: { member: Member; isYou: boolean }) {
  return (
    <Group gap="xs">
      {member.name}
      {isYou && <StatusBadge tone="active">You</StatusBadge>}
      {member.twoFactor && <StatusBadge tone="good">Authenticator app</StatusBadge>}
    </Group>
  )
}

interface MemberActionsProps {
  member: Member
  isYou: boolean
}

function MemberActions({ member: { email, name, role }, isYou }: MemberActionsProps) {
  const { accountId, name: accountName } = useAccount()
  const [asking, setAsking] = useState<'role' | 'removal'>()
  const close = () => setAsking(undefined)
  // Their own role is part of the session.
  const invalidates = [peopleKey(accountId), ...(isYou ? [sessionKey] : [])]
  const setRole = useChange({
    change: (role: Role) => api.member.setRole.mutate({ accountId, email, role }),
    invalidates,
    done: ({ role }) => `${name} is now ${role === 'owner' ? 'an owner' : 'a viewer'}.`,
    onDone: close,
  })
  const remove = useChange({
    change: () => api.member.remove.mutate({ accountId, email }),
    invalidates,
    done: `${name} was removed.`,
    onDone: close,
  })
  const choose = (chosen: Role) => (isYou && chosen === 'viewer' ? setAsking('role') : setRole.mutate(chosen))
  return (
    <>
      <NativeSelect
        size="sm"
        aria-label={`Role of ${email}`}
        data={Object.entries(roleNames).map(([value, label]) => ({ value, label }))}
        value={setRole.isPending ? setRole.variables : role}
        disabled={setRole.isPending}
        onChange={(event) => choose(event.currentTarget.value === 'owner' ? 'owner' : 'viewer')}
      />
      <Button variant="default" onClick={() => setAsking('removal')} aria-label={isYou ? 'Leave' : `Remove ${email}`}>
        {isYou ? 'Leave' : 'Remove'}
      </Button>
      <ConfirmModal
        opened={asking === 'role'}
        onClose={close}
        title="Become a viewer?"
        consequence={`You will no longer be able to make changes in ${accountName}. Only another owner can undo this.`}
        confirmLabel="Become a viewer"
        pending={setRole.isPending}
        onConfirm={() => setRole.mutate('viewer')}
      />
      <ConfirmModal
        opened={asking === 'removal'}
        onClose={close}
        title={isYou ? `Leave ${accountName}?` : `Remove ${name}?`}
        consequence={
          isYou
            ? 'You lose access immediately. Only another owner can invite you again.'
            : `${email} loses access to ${accountName} immediately. To return, they need a new invitation.`
        }
        confirmLabel={isYou ? 'Leave' : 'Remove'}
        pending={remove.isPending}
        onConfirm={() => remove.mutate()}
      />
    </>
  )
}
