import { msg, plural, t } from '@lingui/core/macro'
import { type MessageDescriptor } from '@lingui/core'
import { Trans } from '@lingui/react/macro'
import { Box, Group, NativeSelect, Paper, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconDownload, IconHistory } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
// The texts of changes, to show times in the time zone of the reader in English too.
import '../../../contracts/facts/changes.ts'
import type { Fact, FactParam } from '../../../contracts/facts/fact.ts'
import { toInternational } from '../../../contracts/phone-number.ts'
import { capitalize, say, sayFact } from '../language/facts.ts'
import { formatNumber } from '../language/format.ts'
import { translate } from '../language/i18n.ts'
import { useLanguage } from '../language/language.ts'
import type { InputOf } from '../../../contracts/procedure.ts'
import type { AuditEntry, listAudit } from '../../../contracts/dashboard/user.ts'
import { api } from '../api/client.ts'
import { notifyFailure, notifySuccess, notifyWarning } from '../api/use-change.ts'
import { usePages } from '../api/use-log.ts'
import { useAccount } from '../session/session.ts'
import { StatusBadge } from '../ui/badges.tsx'
import { Button } from '../ui/button.tsx'
import type { Tone } from '../ui/tone.ts'
import { CollapsibleFilters, FilterRow, SearchInput } from '../ui/filters.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { LogTime } from '../ui/date-time.tsx'
import { PageHeader } from '../ui/page.tsx'
import { EmptyState, ErrorAlert, LoadMore } from '../ui/placeholders.tsx'
import { TableSkeleton } from '../ui/skeletons.tsx'
import { saveFile } from '../ui/save-file.ts'
import { localZone, toSheetTime } from '../ui/time.ts'
import { byteOrderMark, describeSeparator, toCsv } from './messages/to-csv.ts'
import { useMembers } from './people/use-people.ts'
import { useEndpoints } from './webhooks/use-endpoints.ts'
import { useWhatsAppAccounts } from './whatsapp-accounts/use-whatsapp-accounts.ts'

export function AuditLogPage() {
  const { accountId } = useAccount()
  const language = useLanguage()
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text.trim(), pauseMilliseconds)
  const [choice, setChoice] = useState<Choice>(noChoice)
  const filter = { accountId, ...(search !== '' && { search }), ...toFilter(choice) }
  const isFiltered = Object.keys(filter).length > 1
  const log = usePages(['audit', filter], (page, options) => api.audit.list.query({ ...filter, ...page }, options))
  const entries = log.data?.pages.flatMap(({ items }) => items) ?? []
  const isEmpty = log.isSuccess && !log.isPlaceholderData && entries.length === 0
  return (
    <>
      <PageHeader
        title={t`Audit log`}
        description={t`Changes, exports and sign-ins of this account, newest first.`}
        actions={<ExportButton filter={filter} />}
      />
      <FilterRow>
        <SearchInput
          flex="1 1 300px"
          label={t`Search`}
          placeholder={t`Email, action or source`}
          value={text}
          onChange={setText}
        />
        <CollapsibleFilters isBeside active={Object.values(choice).filter((value) => value !== '').length}>
          <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
            <Filters choice={choice} onChange={setChoice} />
          </SimpleGrid>
        </CollapsibleFilters>
      </FilterRow>
      {log.isPending && <TableSkeleton rows={16} />}
      {log.isError && <ErrorAlert error={log.error} onRetry={() => log.refetch()} />}
      {isEmpty && search !== '' && (
        <Text size="sm">
          <Trans>No entry has “{search}”.</Trans>
          {language !== 'en' && ` ${t`Actions are searched by their English names.`}`}
        </Text>
      )}
      {isEmpty && search === '' && isFiltered && <Text size="sm">{t`No entry matches.`}</Text>}
      {isEmpty && !isFiltered && (
        <EmptyState icon={IconHistory} title={t`No entries yet`}>
          <Trans>Changes made here, or by an operator on the command line, appear on this page.</Trans>
        </EmptyState>
      )}
      {entries.length > 0 && <AuditTable entries={entries} />}
      <LoadMore query={log} />
    </>
  )
}

/** Days such as `2026-11-20` in the reader's time zone. Empty: all. */
interface Choice {
  who: string
  from: string
  until: string
}

const noChoice: Choice = { who: '', from: '', until: '' }

type Filter = Omit<InputOf<typeof listAudit>, 'cursor' | 'limit'>

function toFilter(choice: Choice): Omit<Filter, 'accountId'> {
  const { who, from, until } = choice
  return {
    ...(who !== '' && { who }),
    ...(from !== '' && { from: startOfDay(from, 0) }),
    // The page says why it is left out.
    ...(until !== '' && !isBackwards(choice) && { until: startOfDay(until, 1) }),
  }
}

function isBackwards({ from, until }: Choice): boolean {
  return from !== '' && until !== '' && until < from
}

/** Browsers accept years of six digits, which timestamps cannot have. */
const lastDay = '9999-12-30'

function startOfDay(day: string, daysLater: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(year, month - 1, date + daysLater).toISOString()
}

/** By user and by day. Former members are found by the search. */
function Filters({ choice, onChange }: { choice: Choice; onChange: (choice: Choice) => void }) {
  const members = useMembers().data?.items ?? []
  return (
    <>
      <NativeSelect
        label={t`User`}
        data={[
          { value: '', label: t`Anyone` },
          ...members.map(({ email }) => ({ value: email, label: email })),
          { value: 'operator', label: t`Operator` },
        ]}
        value={choice.who}
        onChange={({ currentTarget: { value } }) => onChange({ ...choice, who: value })}
      />
      <TextInput
        type="date"
        label={t`From`}
        value={choice.from}
        max={lastDay}
        onChange={({ currentTarget: { value, validity } }) => validity.valid && onChange({ ...choice, from: value })}
      />
      <TextInput
        type="date"
        label={t`Until`}
        value={choice.until}
        max={lastDay}
        error={isBackwards(choice) && t`The last day is before the first.`}
        onChange={({ currentTarget: { value, validity } }) => validity.valid && onChange({ ...choice, until: value })}
      />
    </>
  )
}

const pauseMilliseconds = 250
/** A year of a busy account; each page has 100 entries. */
const maxExportedPages = 100

/** Downloads the entries that match, as CSV. */
function ExportButton({ filter }: { filter: Filter }) {
  const describe = useDescription()
  const { viewedUntil } = useAccount()
  const exported = useMutation({
    mutationFn: async () => {
      const loaded = await loadEntries(filter)
      // Operators change nothing; that they view the account is recorded.
      if (viewedUntil === undefined)
        await api.audit.recordExport.mutate({ accountId: filter.accountId, of: 'auditLog' })
      return loaded
    },
    onSuccess: ({ entries, isCut }) => {
      const rows = entries.map((entry) => [
        toSheetTime(entry.at),
        say(entry, 'who'),
        describe(entry),
        say(entry, 'address'),
        translate(outcomes[entry.outcome].label),
        entry.id,
      ])
      const header = [`${t`Time`} (${localZone()})`, t`User`, t`Action`, t`Source`, t`Outcome`, t`ID`]
      saveFile('audit-log.csv', [byteOrderMark + toCsv([header, ...rows])], 'text/csv;charset=utf-8')
      const exported = plural(entries.length, { one: '# entry exported.', other: '# entries exported.' })
      notifySuccess(`${exported} ${describeSeparator()}`)
      if (isCut)
        notifyWarning(
          t`The file contains only the newest ${formatNumber(entries.length)} matching entries. To export older ones, choose earlier dates.`,
        )
    },
    onError: notifyFailure,
  })
  return <Button variant="default" icon={IconDownload} change={exported}>{t`Export CSV`}</Button>
}

async function loadEntries(filter: Filter): Promise<{ entries: Entry[]; isCut: boolean }> {
  const entries: Entry[] = []
  let cursor: string | undefined
  for (let page = 0; page < maxExportedPages; page++) {
    const { items, nextCursor } = await api.audit.list.query({ ...filter, limit: 100, ...(cursor && { cursor }) })
    entries.push(...items)
    cursor = nextCursor
    if (cursor === undefined) break
  }
  return { entries, isCut: cursor !== undefined }
}

type Entry = z.output<typeof AuditEntry>

const outcomes = {
  done: { tone: 'good', label: msg`Done` },
  refused: { tone: 'warning', label: msg`Rejected` },
  started: { tone: 'neutral', label: msg`Outcome unknown` },
} satisfies Record<Entry['outcome'], { tone: Tone; label: MessageDescriptor }>

/** A table, or a list on a phone. */
function AuditTable({ entries }: { entries: Entry[] }) {
  const describe = useDescription()
  return (
    <Paper withBorder>
      <DataTable
        visibleFrom="sm"
        horizontalSpacing="sm"
        items={entries}
        keyOf={({ id }) => id}
        columns={[
          { title: t`Time`, cell: ({ at }) => <LogTime at={at} />, td: () => ({ c: 'dimmed' }) },
          {
            title: t`User`,
            cell: (entry) => (
              // Wide enough for an email address, which would otherwise wrap despite free space.
              <Box w="max-content" maw={280} style={{ overflowWrap: 'anywhere' }}>
                {say(entry, 'who')}
              </Box>
            ),
          },
          { title: t`Action`, cell: describe, td: () => ({ style: { overflowWrap: 'anywhere' } }) },
          { title: t`Source`, cell: (entry) => say(entry, 'address') },
          { title: t`Outcome`, cell: ({ outcome }) => <Outcome outcome={outcome} /> },
        ]}
      />
      <Stack hiddenFrom="sm" gap={0} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {entries.map((entry, index) => (
          <Box
            key={entry.id}
            component="li"
            p="sm"
            style={index === 0 ? {} : { borderTop: '1px solid var(--waybill-line)' }}
          >
            <Group justify="space-between" align="flex-start" wrap="nowrap" gap="sm">
              <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                {describe(entry)}
              </Text>
              <Outcome outcome={entry.outcome} />
            </Group>
            <Text size="xs" c="dimmed" mt={4} style={{ overflowWrap: 'anywhere' }}>
              <Trans>
                <LogTime at={entry.at} /> by {say(entry, 'who')} from {say(entry, 'address')}
              </Trans>
            </Text>
          </Box>
        ))}
      </Stack>
    </Paper>
  )
}

function Outcome({ outcome }: Pick<Entry, 'outcome'>) {
  const { tone, label } = outcomes[outcome]
  const title =
    outcome === 'started'
      ? t`The action is still running, or the server stopped before it finished. The change may have been applied.`
      : undefined
  return (
    <Box component="span" title={title} style={{ flexShrink: 0 }}>
      <StatusBadge tone={tone}>{translate(label)}</StatusBadge>
    </Box>
  )
}

/** Describes entries with local times, the hosts of existing endpoints and the numbers of existing WhatsApp accounts. */
function useDescription() {
  const { accountId } = useAccount()
  const { data } = useEndpoints(accountId, { refreshes: false })
  const hosts = new Map(data?.items.map(({ endpointId, url }) => [endpointId, new URL(url).host]))
  const { data: whatsAppAccounts } = useWhatsAppAccounts()
  const numbers = new Map(
    whatsAppAccounts?.map(({ whatsAppAccountId, displayPhoneNumber }) => [
      whatsAppAccountId,
      displayPhoneNumber === undefined ? undefined : toInternational(displayPhoneNumber),
    ]),
  )
  const withNames = ({ code, params = {} }: Fact): Fact => {
    const endpointId = addName(params['endpointId'], hosts)
    const whatsAppAccountId = addName(params['whatsAppAccountId'], numbers)
    const named = {
      ...(endpointId !== undefined && { endpointId }),
      ...(whatsAppAccountId !== undefined && { whatsAppAccountId }),
    }
    return { code, params: { ...params, ...named } }
  }
  return ({ what, facts }: Entry) => {
    const fact = facts?.['what']
    return capitalize(sayFact(fact && withNames(fact), what))
  }
}

function addName(id: FactParam | undefined, names: ReadonlyMap<string, string | undefined>): string | undefined {
  const name = typeof id === 'string' ? names.get(id) : undefined
  return typeof id === 'string' && name !== undefined ? `${id} (${name})` : undefined
}
