import { plural, t } from '@lingui/core/macro'
import { Plural, Trans } from '@lingui/react/macro'
import { Button, Group, Modal, Progress, Stack, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { say } from '../../language/facts.ts'
import { formatNumber } from '../../language/format.ts'
import { translate } from '../../language/i18n.ts'
import type { ListedMessage } from '../../../../contracts/dashboard/message.ts'
import { ReportedCategory } from '../../../../contracts/pricing.ts'
import { isRetryable } from '../../api/failure.ts'
import { api } from '../../api/client.ts'
import { notifySuccess } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { describeCategory } from '../../ui/money.ts'
import { saveFile } from '../../ui/save-file.ts'
import { localZone, toSheetTime } from '../../ui/time.ts'
import { type MessageFilters, toListInput } from './message-filters.ts'
import { statusNames } from './message-status.tsx'
import { byteOrderMark, describeSeparator, toCsv } from './to-csv.ts'

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
  const exported = plural(count, { one: '# message exported.', other: '# messages exported.' })
  notifySuccess(`${exported} ${describeSeparator()}`)
}

/** A size that browsers and spreadsheets handle well. */
const maxExported = 50_000
const pageSize = 100
/** Takes about half a minute in total. A failure would discard the pages loaded so far. */
const maxRetries = 5

interface Column {
  title: string
  read: (message: ListedMessage) => string | undefined
}

/** For people and their spreadsheets: titles in their language, and local times. Programs use the API. */
function listColumns(): Column[] {
  const zone = localZone()
  const time = (title: string, read: (message: ListedMessage) => string | undefined): Column => ({
    title: `${title} (${zone})`,
    read: (message) => {
      const at = read(message)
      return at === undefined ? undefined : toSheetTime(at)
    },
  })
  return [
    time(t`Time`, ({ createdAt }) => createdAt),
    { title: t`Recipient`, read: ({ to }) => to },
    { title: t`Template`, read: ({ template }) => template },
    { title: t`Language`, read: ({ language }) => language },
    { title: t`Status`, read: ({ status }) => translate(statusNames[status]) },
    { title: t`Price category`, read: ({ pricing }) => describePricing(pricing)?.category },
    // WhatsApp charges when a message is delivered.
    {
      title: t`Charged by WhatsApp`,
      read: ({ status, pricing }) =>
        status === 'delivered' || status === 'read' ? describePricing(pricing)?.charged : undefined,
    },
    { title: t`Error code`, read: ({ error }) => error?.code },
    { title: t`Reason`, read: ({ meaning, facts }) => meaning && say({ meaning, facts }, 'meaning') },
    { title: t`Reason in detail`, read: ({ error }) => error?.message },
    time(t`Sent`, ({ sentAt }) => sentAt),
    time(t`Delivered`, ({ deliveredAt }) => deliveredAt),
    time(t`Read`, ({ readAt }) => readAt),
    time(t`Failed`, ({ failedAt }) => failedAt),
    { title: t`External ID`, read: ({ externalId }) => externalId },
    { title: t`Message ID`, read: ({ messageId }) => messageId },
    { title: t`WhatsApp ID`, read: ({ waMessageId }) => waMessageId },
    { title: t`WhatsApp account ID`, read: ({ accountId }) => accountId },
    { title: t`Number in WhatsApp`, read: ({ waId }) => waId },
    { title: t`User ID in WhatsApp`, read: ({ userId }) => userId },
  ]
}

/** `utility/free_entry_point` is a free message of the category `utility`. */
function describePricing(pricing: string | undefined): { category: string; charged: string } | undefined {
  if (pricing === undefined) return undefined
  const [name, freeReason] = pricing.split('/')
  const category = ReportedCategory.safeParse(name)
  return {
    category: describeCategory(category.success ? category.data : 'other'),
    charged: freeReason === undefined ? t`Yes` : t`No`,
  }
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
  const columns = listColumns()
  const parts = [byteOrderMark + toCsv([columns.map(({ title }) => title)])]
  let cursor: string | undefined
  let count = 0
  do {
    const limit = Math.min(pageSize, maxExported - count)
    const input = { accountId, ...filter, limit, ...(cursor !== undefined && { cursor }) }
    const page = await queryClient.fetchQuery({
      // Unique to this export, since a cancelled one may still have a retry pending.
      queryKey: ['exportedMessages', startedAt, input],
      queryFn: () => api.message.list.query(input, { signal }),
      retry: (failures, error) => !signal.aborted && failures < maxRetries && isRetryable(error),
      staleTime: 0,
      gcTime: 0,
    })
    parts.push(toCsv(page.items.map((message) => columns.map(({ read }) => read(message)))))
    count += page.items.length
    cursor = page.nextCursor
    onProgress(count)
  } while (cursor !== undefined && count < maxExported)
  return { parts, count, isCut: cursor !== undefined }
}
