import { plural, t } from '@lingui/core/macro'
import { Plural, Trans } from '@lingui/react/macro'
import { Group, Progress, Stack, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { api } from '../../api/client.ts'
import { notifySuccess } from '../../api/use-change.ts'
import { formatNumber } from '../../language/format.ts'
import { useAccount } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { Modal } from '../../ui/dialog.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { beginExport, continueExport, type Export, maxExported } from './export-messages.ts'
import { type MessageFilters, toListInput } from './message-filters.ts'
import { describeSeparator } from './to-csv.ts'

type State =
  | { kind: 'idle' }
  | { kind: 'reading'; exported: Export }
  /** `exported`: what was loaded before. */
  | { kind: 'failed'; error: unknown; exported: Export }
  /** The file was saved, but is incomplete. */
  | { kind: 'cut' }

export function ExportButton({ filters }: { filters: MessageFilters }) {
  const { state, start, stop } = useExport(filters)
  return (
    <>
      <Button variant="default" icon={IconDownload} onClick={() => void start()}>{t`Export CSV`}</Button>
      <Modal
        opened={state.kind !== 'idle'}
        onClose={stop}
        title={t`Export messages`}
        centered
        closeOnClickOutside={false}
      >
        <Stack>
          {state.kind === 'reading' && (
            <>
              <Text size="sm" role="status">
                <Trans>
                  <Plural value={state.exported.count} one="# message loaded." other="# messages loaded." /> The file is
                  saved when all messages are loaded.
                </Trans>
              </Text>
              <ReadingProgress filters={filters} count={state.exported.count} />
            </>
          )}
          {state.kind === 'failed' && (
            <>
              <ErrorAlert error={state.error} onRetry={() => void start(state.exported)} />
              {state.exported.count > 0 && (
                <Text size="sm">
                  <Plural
                    value={state.exported.count}
                    one="The export continues after the message that is loaded."
                    other="The export continues after the # messages that are loaded."
                  />
                </Text>
              )}
            </>
          )}
          {state.kind === 'cut' && (
            <Text size="sm" role="status">
              <Trans>
                The file contains the newest {formatNumber(maxExported)} matching messages. To export older ones, narrow
                the time range.
              </Trans>
            </Text>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={stop}>
              {state.kind === 'reading' ? t`Cancel` : t`Close`}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}

/** How much is loaded, if the number of matching messages is known. */
function ReadingProgress({ filters, count }: { filters: MessageFilters; count: number }) {
  const { accountId } = useAccount()
  const { data } = useQuery(countQuery(accountId, filters))
  const total = data && data.kind !== 'minimum' ? Math.min(data.count, maxExported) : undefined
  const percent = total === undefined ? 100 : Math.min(100, (count / Math.max(total, 1)) * 100)
  return <Progress value={percent} animated striped aria-label={t`Loading messages`} />
}

function useExport(filters: MessageFilters) {
  const { accountId } = useAccount()
  const queryClient = useQueryClient()
  const [state, setState] = useState<State>({ kind: 'idle' })
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const start = async (from?: Export) => {
    const controller = new AbortController()
    running.current = controller
    let exported = from ?? beginExport()
    const onProgress = (loaded: Export) => {
      exported = loaded
      if (!controller.signal.aborted) setState({ kind: 'reading', exported })
    }
    onProgress(exported)
    try {
      if (!exported.isRecorded) await api.audit.recordExport.mutate({ accountId, of: 'messages' })
      exported = { ...exported, isRecorded: true }
      const { signal } = controller
      const made = await continueExport(exported, { queryClient, accountId, filters, signal, onProgress })
      if (signal.aborted) return
      save(made)
      setState({ kind: made.cursor === undefined ? 'idle' : 'cut' })
    } catch (error) {
      if (!controller.signal.aborted) setState({ kind: 'failed', error, exported })
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
  const exported = plural(count, { one: '# message exported.', other: '# messages exported.' })
  notifySuccess(`${exported} ${describeSeparator()}`)
}

/** The number of matching messages. */
export function countQuery(accountId: string, filters: MessageFilters) {
  return queryOptions({
    queryKey: ['messages', accountId, 'count', filters],
    queryFn: ({ signal }) => api.message.count.query({ accountId, ...toListInput(filters, new Date()) }, { signal }),
  })
}
