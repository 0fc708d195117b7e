import { Button, Group, Modal, Progress, Stack, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { notifyDone } from '../../api/notify.ts'
import { useAccount } from '../../session/account.ts'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { exportMessages, maxExported, type Export } from './export-messages.ts'
import type { MessageFilters } from './message-filters.ts'

type State =
  | { kind: 'idle' }
  | { kind: 'reading'; count: number }
  | { kind: 'failed'; error: unknown }
  /** Something is to be said of the file that was saved. */
  | { kind: 'cut' }

/** What the filters match, as a file for a spreadsheet. */
export function ExportButton({ filters }: { filters: MessageFilters }) {
  const { state, start, stop } = useExport(filters)
  return (
    <>
      <Button variant="default" leftSection={<IconDownload size={16} />} onClick={() => void start()}>
        Export CSV
      </Button>
      <Modal
        opened={state.kind !== 'idle'}
        onClose={stop}
        title="Export messages"
        centered
        closeOnClickOutside={false}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Stack>
          {state.kind === 'reading' && (
            <>
              <Text size="sm" role="status">
                {inWords(state.count)} messages read. The file is saved when all are there.
              </Text>
              <Progress value={100} animated striped aria-label="Reading messages" />
            </>
          )}
          {state.kind === 'failed' && <ErrorAlert error={state.error} onRetry={() => void start()} />}
          {state.kind === 'cut' && (
            <Text size="sm" role="status">
              The file holds the newest {inWords(maxExported)} messages that match; there may be more. Narrow the time
              range, then export the older ones.
            </Text>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={stop}>
              {state.kind === 'reading' ? 'Cancel' : 'Close'}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}

function useExport(filters: MessageFilters) {
  const { accountId } = useAccount()
  const queryClient = useQueryClient()
  const [state, setState] = useState<State>({ kind: 'idle' })
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const start = async () => {
    const controller = new AbortController()
    running.current = controller
    setState({ kind: 'reading', count: 0 })
    try {
      const onProgress = (count: number) => setState({ kind: 'reading', count })
      const made = await exportMessages(queryClient, accountId, filters, { signal: controller.signal, onProgress })
      if (controller.signal.aborted) return
      save(made)
      setState({ kind: made.isCut ? 'cut' : 'idle' })
    } catch (error) {
      if (!controller.signal.aborted) setState({ kind: 'failed', error })
    }
  }
  const stop = () => {
    running.current?.abort()
    setState({ kind: 'idle' })
  }
  return { state, start, stop }
}

function save({ parts, count }: Export): void {
  saveFile(`waybill-messages-${new Date().toISOString().slice(0, 10)}.csv`, parts, 'text/csv;charset=utf-8')
  notifyDone(count === 1 ? '1 message was exported.' : `${inWords(count)} messages were exported.`)
}

function inWords(count: number): string {
  return count.toLocaleString('en')
}
