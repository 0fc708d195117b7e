import { msg, plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { SegmentedControl, Table, Text, UnstyledButton } from '@mantine/core'
import { IconChevronDown, IconSelector } from '@tabler/icons-react'
import { Fragment, useState } from 'react'
import { describeCountry, formatNumber } from '../../language/format.ts'
import { translate } from '../../language/i18n.ts'
import type { Funnel, Overview, Share } from '../../../../contracts/dashboard/overview.ts'
import { useAccount } from '../../session/session.ts'
import { DateTime } from '../../ui/date-time.tsx'
import { Section } from '../../ui/page.tsx'
import { type MessageFilters, noFilters, writeFilters } from '../messages/message-filters.ts'
import { Bar } from './figures.tsx'
import styles from './overview.module.css'
import {
  type BreakdownOrder,
  countFailed,
  describeShare,
  measureShare,
  stageNames,
  toLogRange,
  toRows,
} from './statistics.ts'
import { TextLink } from '../../ui/button.tsx'

const dimensions = [
  { value: 'templates', label: msg`Template`, table: msg`Messages by template` },
  { value: 'numbers', label: msg`Number`, table: msg`Messages by number` },
  { value: 'countries', label: msg`Country`, table: msg`Messages by country` },
] as const
type Dimension = (typeof dimensions)[number]['value']

function nameOf(dimension: Dimension, { key, name }: Share): string {
  if (dimension === 'countries') return describeCountry(key)
  return name ?? key
}

/** Messages by template, number or country. All rows, including the others, add up to the messages of the period. */
export function BreakdownSection({ overview }: { overview: Overview }) {
  const [dimension, setDimension] = useState<Dimension>('templates')
  const { totals, breakdownSince } = overview
  return (
    <Section
      title={t`Breakdown`}
      actions={
        <SegmentedControl
          size="xs"
          aria-label={t`Break down by`}
          data={dimensions.map(({ value, label }) => ({ value, label: translate(label) }))}
          value={dimension}
          onChange={setDimension}
        />
      }
    >
      {totals.attempted === 0 ? (
        <Text size="sm">{t`No messages in this period.`}</Text>
      ) : (
        <div className={styles['tableArea']}>
          <BreakdownTable dimension={dimension} overview={overview} />
        </div>
      )}
      {breakdownSince !== undefined && (
        <Text size="xs" c="dimmed" mt="sm">
          <Trans>
            Messages recorded before <DateTime at={breakdownSince} /> are not broken down and count as others.
          </Trans>
        </Text>
      )}
    </Section>
  )
}

function BreakdownTable({ dimension, overview }: { dimension: Dimension; overview: Overview }) {
  const { accountId } = useAccount()
  const [order, setOrder] = useState<BreakdownOrder>('attempted')
  const { rows, others } = toRows(overview.totals, overview[dimension], order)
  // Bars are relative to the largest row, so that small ones remain distinguishable.
  const largest = Math.max(1, ...[...rows, others].map((row) => measureShare(row, order)))
  const names = dimensions.find(({ value }) => value === dimension) ?? dimensions[0]
  const linkTo = (filters: Partial<MessageFilters>) =>
    `/${accountId}/messages?${writeFilters({ ...noFilters, ...filters, ...toLogRange(overview) })}`
  return (
    <Table
      aria-label={translate(names.table)}
      fz="sm"
      horizontalSpacing={0}
      verticalSpacing={6}
      className={styles['breakdown']}
    >
      <Table.Thead>
        <Table.Tr c="dimmed" fz="xs">
          <Table.Th scope="col">{translate(names.label)}</Table.Th>
          <SortableHeader
            name={translate(stageNames.attempted)}
            isSorted={order === 'attempted'}
            onSort={() => setOrder('attempted')}
          />
          <Table.Th scope="col">{translate(stageNames.delivered)}</Table.Th>
          <Table.Th scope="col">{translate(stageNames.read)}</Table.Th>
          <SortableHeader
            name={t({ message: 'Failed', context: 'number of messages' })}
            isSorted={order === 'failed'}
            onSort={() => setOrder('failed')}
          />
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => {
          const filters = toFilters(dimension, row.key)
          return (
            <BreakdownRow
              key={row.key}
              name={nameOf(dimension, row)}
              to={filters && linkTo(filters)}
              toFailed={filters && linkTo({ ...filters, status: 'failed' })}
              funnel={row}
              order={order}
              largest={largest}
            />
          )
        })}
        {others.attempted > 0 && <BreakdownRow name={t`Others`} funnel={others} order={order} largest={largest} />}
      </Table.Tbody>
    </Table>
  )
}

/** The message log filters for a row. Erased recipients have no country. */
function toFilters(dimension: Dimension, key: string): Partial<MessageFilters> | undefined {
  switch (dimension) {
    case 'templates':
      return { template: key }
    case 'numbers':
      return { whatsAppAccountId: key }
    case 'countries':
      return key === '' ? undefined : { country: key }
  }
}

/** Sorts in descending order. */
function SortableHeader({ name, isSorted, onSort }: { name: string; isSorted: boolean; onSort: () => void }) {
  return (
    <Table.Th scope="col" aria-sort={isSorted ? 'descending' : undefined}>
      <UnstyledButton className={styles['sort']} fz="inherit" fw="inherit" c="inherit" onClick={onSort}>
        {name}
        {isSorted ? <IconChevronDown size={12} aria-hidden /> : <IconSelector size={12} aria-hidden />}
      </UnstyledButton>
    </Table.Th>
  )
}

interface BreakdownRowProps {
  name: string
  to?: string | undefined
  toFailed?: string | undefined
  funnel: Funnel
  order: BreakdownOrder
  largest: number
}

function BreakdownRow({ name, to, toFailed, funnel, order, largest }: BreakdownRowProps) {
  const { attempted, delivered, read } = funnel
  const failed = countFailed(funnel)
  const label = plural(failed, { one: `# failed message: ${name}`, other: `# failed messages: ${name}` })
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400}>
        {to === undefined ? (
          name
        ) : (
          <TextLink to={to} fz="inherit">
            {breakable(name)}
          </TextLink>
        )}
        <Bar segment={order === 'failed' ? 'undelivered' : 'delivered'} share={measureShare(funnel, order) / largest} />
      </Table.Th>
      <Table.Td fw={500}>{formatNumber(attempted)}</Table.Td>
      <Table.Td>{describeShare(delivered, attempted)}</Table.Td>
      <Table.Td>{describeShare(read, delivered)}</Table.Td>
      <Table.Td>
        <span className={styles['failed']}>
          {failed === 0 || toFailed === undefined ? (
            <span>{formatNumber(failed)}</span>
          ) : (
            <TextLink to={toFailed} fz="inherit" aria-label={label}>
              {formatNumber(failed)}
            </TextLink>
          )}{' '}
          <Text span inherit c="dimmed">
            {describeShare(failed, attempted)}
          </Text>
        </span>
      </Table.Td>
    </Table.Tr>
  )
}

/** Lets template names wrap after an underscore, because they have no spaces. */
function breakable(name: string) {
  return name.split(/(?<=_)/).map((part, index) => (
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ))
}
