import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { type View, viewLimits } from '../../../../../contracts/dashboard/view.ts'
import { readFailure } from '../../../api/failure.ts'
import { api } from '../../../api/client.ts'
import { useChange } from '../../../api/use-change.ts'
import { useAccount } from '../../../session/session.ts'
import type { MessageFilters } from '../message-filters.ts'
import { toViewFilters, viewsKey } from './use-views.ts'

interface SaveViewModalProps {
  filters: MessageFilters
  views: readonly View[]
  onClose: () => void
}

export function SaveViewModal({ filters, views, onClose }: SaveViewModalProps) {
  const { accountId } = useAccount()
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string>()
  const name = text.trim()
  const replaces = views.some((view) => view.name === name)
  const save = useChange({
    change: () => api.view.save.mutate({ accountId, name, filters: toViewFilters(filters) }),
    invalidates: [viewsKey(accountId)],
    done: t`View saved.`,
    onDone: onClose,
    onFailure: (error) => setProblem(readFailure(error).fields['name'] ?? readFailure(error).message),
  })
  return (
    <Modal opened onClose={onClose} title={t`Save view`} centered>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (name === '') setProblem(t`Enter a name.`)
          else save.mutate()
        }}
      >
        <Stack>
          <TextInput
            label={t`Name`}
            placeholder={t`Failed today`}
            data-autofocus
            autoComplete="off"
            maxLength={viewLimits.nameLength}
            value={text}
            error={problem}
            description={replaces ? t`Replaces your view with this name.` : t`Only you see it, in this account.`}
            onChange={({ currentTarget: { value } }) => {
              setText(value)
              setProblem(undefined)
            }}
          />
          <Group justify="flex-end" gap="sm">
            <Button variant="default" onClick={onClose}>
              <Trans>Cancel</Trans>
            </Button>
            <Button type="submit" loading={save.isPending}>
              <Trans>Save view</Trans>
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
