import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { ActionIcon, Button, Group, Modal, Stack, Text, TextInput, Tooltip } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { type View, viewLimits } from '../../../../../contracts/dashboard/view.ts'
import { readFailure } from '../../../api/failure.ts'
import { api } from '../../../api/client.ts'
import { useChange } from '../../../api/use-change.ts'
import { useAccount } from '../../../session/session.ts'
import { viewsKey } from './use-views.ts'

interface ManageViewsModalProps {
  views: readonly View[]
  onClose: () => void
}

export function ManageViewsModal({ views, onClose }: ManageViewsModalProps) {
  return (
    <Modal opened onClose={onClose} title={t`Saved views`} centered>
      <Stack gap="xs" component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {views.map((view) => (
          <li key={view.name}>
            <ViewForm view={view} />
          </li>
        ))}
        {views.length === 0 && (
          <Text component="li" size="sm" c="dimmed">
            <Trans>You have no saved views.</Trans>
          </Text>
        )}
      </Stack>
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={onClose}>
          <Trans>Close</Trans>
        </Button>
      </Group>
    </Modal>
  )
}

function ViewForm({ view: { name } }: { view: View }) {
  const { accountId } = useAccount()
  const [text, setText] = useState(name)
  const [problem, setProblem] = useState<string>()
  const newName = text.trim()
  const invalidates = [viewsKey(accountId)]
  const rename = useChange({
    change: () => api.view.rename.mutate({ accountId, name, newName }),
    invalidates,
    done: t`View renamed.`,
    onFailure: (error) => setProblem(readFailure(error).fields['newName'] ?? readFailure(error).message),
  })
  const remove = useChange({
    change: () => api.view.delete.mutate({ accountId, name }),
    invalidates,
    done: t`View ${name} deleted.`,
  })
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (newName === '') setProblem(t`Enter a name.`)
        else if (newName !== name) rename.mutate()
      }}
    >
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <TextInput
          flex={1}
          aria-label={t`Name of ${name}`}
          autoComplete="off"
          maxLength={viewLimits.nameLength}
          value={text}
          error={problem}
          onChange={({ currentTarget: { value } }) => {
            setText(value)
            setProblem(undefined)
          }}
        />
        {newName !== name && (
          <Button type="submit" variant="default" loading={rename.isPending}>
            <Trans>Rename</Trans>
          </Button>
        )}
        <Tooltip label={t`Delete`}>
          <ActionIcon
            variant="default"
            size={36}
            aria-label={t`Delete ${name}`}
            loading={remove.isPending}
            onClick={() => remove.mutate()}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Tooltip>
      </Group>
    </form>
  )
}
