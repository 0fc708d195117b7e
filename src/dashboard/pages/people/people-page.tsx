import { t } from '@lingui/core/macro'
import { Button, Group, NativeSelect, Text } from '@mantine/core'
import { IconUserPlus } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import type { Member } from '../../../../contracts/dashboard/member.ts'
import type { Role } from '../../../../contracts/procedure.ts'
import { api } from '../../api/client.ts'
import { useChange, useChoice } from '../../api/use-change.ts'
import { translate } from '../../language/i18n.ts'
import { sessionKey, useAccount, useUser } from '../../session/session.ts'
import { LabelBadge } from '../../ui/badges.tsx'
import { ChangeButton } from '../../ui/button.tsx'
import { ConfirmModal, useLinkedDialog } from '../../ui/dialog.tsx'
import { PageHeader, Section } from '../../ui/page.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { ItemsSkeleton } from '../../ui/skeletons.tsx'
import { Item, ItemList } from '../../ui/lists.tsx'
import { InvitationsSection } from './invitations-section.tsx'
import { InviteModal } from './invite-modal.tsx'
import { peopleKey, roleNames, useMembers } from './use-people.ts'

export function PeoplePage() {
  const { name, canChange } = useAccount()
  const { data, error, isPending, refetch } = useMembers()
  const { opened, open, close } = useLinkedDialog('#invite')
  return (
    <>
      <PageHeader
        title={t`People`}
        description={t`Who can sign in to ${name}. Owners have full access, viewers have read-only access.`}
        actions={<ChangeButton icon={IconUserPlus} onClick={open}>{t`Invite`}</ChangeButton>}
      />
      <Section title={t`Members`}>
        {isPending && <ItemsSkeleton />}
        {error && <ErrorAlert error={error} onRetry={() => refetch()} />}
        {data && <MemberList members={data.items} />}
      </Section>
      {canChange && <InvitationsSection />}
      <InviteModal opened={opened} onClose={close} />
    </>
  )
}

function MemberList({ members }: { members: Member[] }) {
  const { canChange } = useAccount()
  const { email: own } = useUser()
  const isOnlyOwner = members.filter(({ role }) => role === 'owner').length === 1
  return (
    <ItemList label={t`Members`}>
      {members.map((member) => (
        <Item
          key={member.email}
          name={<MemberName member={member} isYou={member.email === own} />}
          description={member.email}
        >
          {canChange && !(isOnlyOwner && member.role === 'owner') ? (
            <MemberActions member={member} isYou={member.email === own} />
          ) : (
            <Text size="sm" c="dimmed">
              {canChange ? t`Only owner` : translate(roleNames[member.role])}
            </Text>
          )}
        </Item>
      ))}
    </ItemList>
  )
}

function MemberName({ member, isYou }: { member: Member; isYou: boolean }) {
  return (
    <Group gap="xs">
      {member.name}
      {isYou && <LabelBadge>{t`You`}</LabelBadge>}
      {member.twoFactor && <LabelBadge>{t`Authenticator app`}</LabelBadge>}
    </Group>
  )
}

function MemberActions({ member: { email, name, role }, isYou }: { member: Member; isYou: boolean }) {
  const { accountId, name: accountName } = useAccount()
  const [confirming, setConfirming] = useState<'role' | 'removal'>()
  const close = () => setConfirming(undefined)
  const setRole = useChoice(role, {
    change: (role: Role) => api.member.setRole.mutate({ accountId, email, role }),
    // The own role is part of the session.
    invalidates: [peopleKey(accountId), ...(isYou ? [sessionKey] : [])],
    done: ({ role }) => (role === 'owner' ? t`${name} is now an owner.` : t`${name} is now a viewer.`),
    onDone: close,
  })
  const next = useUser().accounts.find((account) => account.accountId !== accountId)
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const leave = async () => {
    await navigate(next ? `/${next.accountId}` : '/profile')
    // The session lists the account: without it, this page would not be found.
    await queryClient.invalidateQueries({ queryKey: sessionKey })
  }
  const remove = useChange({
    change: () => api.member.remove.mutate({ accountId, email }),
    invalidates: isYou ? [] : [peopleKey(accountId)],
    done: isYou ? t`You left ${accountName}.` : t`${name} was removed.`,
    onDone: () => (isYou ? void leave() : close()),
  })
  const choose = (chosen: Role) => (isYou && chosen === 'viewer' ? setConfirming('role') : setRole.choose(chosen))
  return (
    <>
      <NativeSelect
        size="sm"
        aria-label={t`Role of ${email}`}
        data={Object.entries(roleNames).map(([value, label]) => ({ value, label: translate(label) }))}
        value={setRole.shown}
        disabled={setRole.isPending}
        onChange={(event) => choose(event.currentTarget.value === 'owner' ? 'owner' : 'viewer')}
      />
      <Button
        variant="default"
        onClick={() => setConfirming('removal')}
        aria-label={isYou ? t`Leave` : t`Remove ${email}`}
      >
        {isYou ? t`Leave` : t`Remove`}
      </Button>
      <ConfirmModal
        opened={confirming === 'role'}
        onClose={close}
        title={t`Become a viewer?`}
        consequence={t`You will no longer be able to make changes in ${accountName}. Only another owner can undo this.`}
        confirmLabel={t`Become a viewer`}
        change={{ isPending: setRole.isPending, mutate: () => setRole.choose('viewer') }}
      />
      <ConfirmModal
        opened={confirming === 'removal'}
        onClose={close}
        title={isYou ? t`Leave ${accountName}?` : t`Remove ${name}?`}
        consequence={
          isYou
            ? t`You lose access immediately. Only another owner can invite you again.`
            : t`${email} loses access to ${accountName} immediately. To return, they need a new invitation.`
        }
        confirmLabel={isYou ? t`Leave` : t`Remove`}
        change={remove}
      />
    </>
  )
}
