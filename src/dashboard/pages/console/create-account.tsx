import { t } from '@lingui/core/macro'
import { Group, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { operatorApi } from '../../api/client.ts'
import { useFormChange } from '../../api/use-change.ts'
import { Button } from '../../ui/button.tsx'
import { CopyField } from '../../ui/copy.tsx'
import { Modal } from '../../ui/dialog.tsx'
import { Form, FormActions } from '../../ui/form.tsx'
import { InvitationSent } from '../../ui/invitation-link.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { consoleKey } from './use-console.ts'

type Created = Awaited<ReturnType<typeof operatorApi.account.create.mutate>> & { ownerEmail: string }

export function CreateAccountButton() {
  const [opened, { open, close }] = useDisclosure()
  const [created, setCreated] = useState<Created>()
  return (
    <>
      <Button icon={IconPlus} onClick={open}>{t`Create account`}</Button>
      <Modal
        opened={opened}
        onClose={close}
        onExitTransitionEnd={() => setCreated(undefined)}
        title={created ? t`${created.name} is created` : t`Create account`}
        // A click outside would discard the link.
        closeOnClickOutside={false}
      >
        {created ? <Done created={created} onClose={close} /> : <CreateForm onCreated={setCreated} onCancel={close} />}
      </Modal>
    </>
  )
}

function Done({ created, onClose }: { created: Created; onClose: () => void }) {
  const { ownerEmail, invitationLink } = created
  return (
    <Stack>
      <CopyField label={t`Account ID`} value={created.accountId} />
      {ownerEmail !== '' && <InvitationSent email={ownerEmail} link={invitationLink} />}
      <Group justify="flex-end">
        <Button onClick={onClose}>{t`Done`}</Button>
      </Group>
    </Stack>
  )
}

function CreateForm({ onCreated, onCancel }: { onCreated: (created: Created) => void; onCancel: () => void }) {
  const form = useForm({
    initialValues: { name: '', ownerEmail: '' },
    validate: { name: (name) => (name.trim() === '' ? t`Enter a name.` : null) },
  })
  const create = useFormChange(form, {
    change: ({ name, ownerEmail }: typeof form.values) =>
      operatorApi.account.create.mutate({
        name: name.trim(),
        ...(ownerEmail.trim() !== '' && { ownerEmail: ownerEmail.trim() }),
      }),
    invalidates: [consoleKey],
    onDone: (created, { ownerEmail }) => onCreated({ ...created, ownerEmail: ownerEmail.trim() }),
  })
  return (
    <Form onSubmit={form.onSubmit(create.submit)}>
      <TextInput label={t`Name`} required data-autofocus maxLength={200} {...form.getInputProps('name')} />
      <TextInput
        label={t`Email address of its owner`}
        description={t`Optional. They get an invitation to the account.`}
        type="email"
        autoComplete="off"
        {...form.getInputProps('ownerEmail')}
      />
      {create.problem !== undefined && <ErrorAlert error={create.problem} title={t`The account was not created`} />}
      <FormActions loading={create.isPending} onCancel={onCancel}>{t`Create account`}</FormActions>
    </Form>
  )
}
