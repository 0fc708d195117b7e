import { plural, t } from '@lingui/core/macro'
import { Plural, Trans } from '@lingui/react/macro'
import { Button, Group, Modal, Progress, Stack, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { formatNumber } from '../../language/format.ts'
import type { Message, MessagePage } from '../../../../contracts/api/message.ts'
import { isRetryable } from '../../api/failure.ts'
import { api } from '../../api/client.ts'
import { notifySuccess } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { type MessageFilters, toListInput } from './message-filters.ts'
import { byteOrderMark, toCsv } from './to-csv.ts'

type State =
  | { kind: 'idle' }
  | { kind: 'reading'; count: number }
  | { kind: 'failed'; error: unknown }
  /** The file was saved, but is incomplete. */
  | { kind: 'cut' }

/** Exports the filtered messages as CSV. */
export function ExportButton({ filters }: { filters: MessageFilters }) {
  const { state, start, stop } = useExport(filters)
  return (
    <>
      <Button variant="default" leftSection={<IconDownload size={16} />} onClick={() => void start()}>
        <Trans>Export CSV</Trans>
      </Button>
      <Modal
        opened={state.kind !== 'idle'}
        onClose={stop}
        title={t`Export messages`}
        centered
        closeOnClickOutside={false}
        closeButtonProps={{ 'aria-label': t`Close` }}
      >
        <Stack>
          {state.kind === 'reading' && (
            <>
              <Text size="sm" role="status">
                <Trans>
                  <Plural value={state.count} one="# message loaded." other="# messages loaded." /> The file is saved
                  when all messages are loaded.
                </Trans>
              </Text>
              <Progress value={100} animated striped aria-label={t`Loading messages`} />
            </>
          )}
          {state.kind === 'failed' && <ErrorAlert error={state.error} onRetry={() => void start()} />}
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
      await api.audit.recordExport.mutate({ accountId, of: 'messages' })
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
  notifySuccess(plural(count, { one: '# message exported.', other: '# messages exported.' }))
}

/** A size that browsers and spreadsheets handle well. */
const maxExported = 50_000
const pageSize = 100
/** Takes about half a minute in total. A failure would discard the pages loaded so far. */
const maxRetries = 5

const columns: Record<string, (message: Message) => string | undefined> = {
  createdAt: (message) => message.createdAt,
  messageId: (message) => message.messageId,
  externalId: (message) => message.externalId,
  to: (message) => message.to,
  template: (message) => message.template,
  language: (message) => message.language,
  status: (message) => message.status,
  sentAt: (message) => message.sentAt,
  deliveredAt: (message) => message.deliveredAt,
  readAt: (message) => message.readAt,
  failedAt: (message) => message.failedAt,
  errorCode: (message) => message.error?.code,
  errorMessage: (message) => message.error?.message,
  whatsAppAccountId: (message) => message.accountId,
  waMessageId: (message) => message.waMessageId,
  waId: (message) => message.waId,
  userId: (message) => message.userId,
}

interface Export {
  parts: string[]
  count: number
  /** Whether the limit was reached before the end of the log. */
  isCut: boolean
}

/** Loads all matching messages page by page, newest first. */
export async function exportMessages(
  queryClient: QueryClient,
  accountId: string,
  filters: MessageFilters,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (count: number) => void },
): Promise<Export> {
  // Fixed, so that a range such as the last hour does not move between pages.
  const startedAt = new Date()
  const filter = toListInput(filters, startedAt)
  const parts = [byteOrderMark + toCsv([Object.keys(columns)])]
  let cursor: string | undefined
  let count = 0
  do {
    const limit = Math.min(pageSize, maxExported - count)
    const input = { accountId, ...filter, limit, ...(cursor !== undefined && { cursor }) }
    const page: MessagePage = await queryClient.fetchQuery({
      // Unique to this export, since a cancelled one may still have a retry pending.
      queryKey: ['exportedMessages', startedAt, input],
      queryFn: () => api.message.list.query(input, { signal }),
      retry: (failures, error) => !signal.aborted && failures < maxRetries && isRetryable(error),
      staleTime: 0,
      gcTime: 0,
    })
    parts.push(toCsv(page.items.map((message) => Object.values(columns).map((read) => read(message)))))
    count += page.items.length
    cursor = page.nextCursor
    onProgress(count)
  } while (cursor !== undefined && count < maxExported)
  return { parts, count, isCut: cursor !== undefined }
}
