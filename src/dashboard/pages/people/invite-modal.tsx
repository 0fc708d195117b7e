import { t } from '@lingui/core/macro'
import { Button, Group, NativeSelect, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import type { SentInvitation } from '../../../../contracts/dashboard/member.ts'
import { api } from '../../api/client.ts'
import { useFormChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { Modal } from '../../ui/dialog.tsx'
import { Form, FormActions } from '../../ui/form.tsx'
import { InvitationSent } from '../../ui/invitation-link.tsx'
import { peopleKey } from './use-people.ts'

/** Asks for the email address and role, then shows the link if this server sends no email. */
export function InviteModal({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [sent, setSent] = useState<SentInvitation>()
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={() => setSent(undefined)}
      title={sent ? t`${sent.email} is invited` : t`Invite person`}
      // A click outside would discard the link.
      closeOnClickOutside={false}
    >
      {sent ? <Invited invitation={sent} onClose={onClose} /> : <InviteForm onSent={setSent} onCancel={onClose} />}
    </Modal>
  )
}

function Invited({ invitation: { email, link }, onClose }: { invitation: SentInvitation; onClose: () => void }) {
  return (
    <Stack>
      <InvitationSent email={email} link={link} />
      <Group justify="flex-end">
        <Button onClick={onClose}>{t`Done`}</Button>
      </Group>
    </Stack>
  )
}

function InviteForm({ onSent, onCancel }: { onSent: (sent: SentInvitation) => void; onCancel: () => void }) {
  const { accountId } = useAccount()
  const form = useForm({
    initialValues: { email: '', role: 'viewer' },
    validate: { email: (email) => (email.trim() === '' ? t`Enter an email address.` : null) },
  })
  const invite = useFormChange(form, {
    change: ({ email, role }: typeof form.values) =>
      api.member.invite.mutate({
        accountId,
        email: email.trim(),
        role: role === 'owner' ? 'owner' : 'viewer',
      }),
    invalidates: [peopleKey(accountId)],
    onDone: onSent,
  })
  return (
    <Form onSubmit={form.onSubmit(invite.submit)} failure={t`Invitation failed`} problem={invite.problem}>
      <TextInput
        label={t`Email address`}
        type="email"
        autoComplete="off"
        data-autofocus
        placeholder="ada@example.com"
        {...form.getInputProps('email')}
      />
      <NativeSelect
        label={t`Role`}
        data={[
          { value: 'viewer', label: t`Viewer: read-only access` },
          { value: 'owner', label: t`Owner: full access` },
        ]}
        {...form.getInputProps('role')}
      />
      <FormActions loading={invite.isPending} onCancel={onCancel}>{t`Invite`}</FormActions>
    </Form>
  )
}
