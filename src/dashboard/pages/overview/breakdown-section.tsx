import { Anchor, SegmentedControl, Table, Text } from '@mantine/core'
import { Fragment, useState } from 'react'
import { Link } from 'react-router'
import type { Funnel, Overview, Share } from '../../../../contracts/dashboard/overview.ts'
import { useAccount } from '../../session/session.ts'
import { DateTime } from '../../ui/date-time.tsx'
import { Section } from '../../ui/page.tsx'
import { noFilters, writeFilters } from '../messages/message-filters.ts'
import { Bar } from './figures.tsx'
import styles from './overview.module.css'
import { countFailed, describeCount, describeShare, stages, toLogRange } from './statistics.ts'

const dimensions = [
  { value: 'templates', label: 'Template' },
  { value: 'numbers', label: 'Number' },
  { value: 'countries', label: 'Country' },
] as const
type Dimension = (typeof dimensions)[number]['value']

const countryNames = new Intl.DisplayNames('en', { type: 'region' })

export function describeCountry(code: string): string {
  return code === '' ? 'Unknown' : (countryNames.of(code) ?? code)
}

function nameOf(dimension: Dimension, { key, name }: Share): string {
  if (dimension === 'countries') return describeCountry(key)
  return name ?? key
}

/** Messages by template, number or country. The rows and the others add up to the messages of the period. */
export function BreakdownSection({ overview }: { overview: Overview }) {
  const [dimension, setDimension] = useState<Dimension>('templates')
  const { totals, breakdownSince } = overview
  return (
    <Section
      title="Breakdown"
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Break down by"
          data={[...dimensions]}
          value={dimension}
          onChange={setDimension}
        />
      }
    >
      {totals.attempted === 0 ? (
        <Text size="sm">No messages in this period.</Text>
      ) : (
        <BreakdownTable dimension={dimension} overview={overview} />
      )}
      {breakdownSince !== undefined && (
        <Text size="xs" c="dimmed" mt="sm">
          Messages recorded before <DateTime at={breakdownSince} /> are not broken down and count as others.
        </Text>
      )}
    </Section>
  )
}

function BreakdownTable({ dimension, overview }: { dimension: Dimension; overview: Overview }) {
  const { accountId } = useAccount()
  const { totals } = overview
  const shares = overview[dimension]
  const others = subtract(totals, shares)
  // Bars compare with the largest row, so that small ones are still told apart.
  const largest = Math.max(others.attempted, ...shares.map(({ attempted }) => attempted))
  const label = dimensions.find(({ value }) => value === dimension)?.label
  const linkOf = (key: string) =>
    dimension === 'templates'
      ? `/${accountId}/messages?${writeFilters({ ...noFilters, template: key, ...toLogRange(overview) })}`
      : undefined
  return (
    <Table
      aria-label={`Messages by ${label?.toLowerCase()}`}
      fz="sm"
      horizontalSpacing={0}
      verticalSpacing={6}
      className={styles['breakdown']}
    >
      <Table.Thead>
        <Table.Tr c="dimmed" fz="xs">
          <Table.Th scope="col">{label}</Table.Th>
          <Table.Th scope="col">Attempted</Table.Th>
          <Table.Th scope="col">Delivered</Table.Th>
          <Table.Th scope="col">Read</Table.Th>
          <Table.Th scope="col">Failed</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {shares.map((share) => (
          <BreakdownRow
            key={share.key}
            name={nameOf(dimension, share)}
            to={linkOf(share.key)}
            funnel={share}
            largest={largest}
          />
        ))}
        {others.attempted > 0 && <BreakdownRow name="Others" funnel={others} largest={largest} />}
      </Table.Tbody>
    </Table>
  )
}

interface BreakdownRowProps {
  name: string
  to?: string | undefined
  funnel: Funnel
  largest: number
}

function BreakdownRow({ name, to, funnel, largest }: BreakdownRowProps) {
  const { attempted, delivered, read } = funnel
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400}>
        {to === undefined ? (
          name
        ) : (
          <Anchor component={Link} to={to} fz="inherit">
            {breakable(name)}
          </Anchor>
        )}
        <Bar segment="delivered" share={attempted / largest} />
      </Table.Th>
      <Table.Td fw={500}>{describeCount(attempted)}</Table.Td>
      <Table.Td>{describeShare(delivered, attempted)}</Table.Td>
      <Table.Td>{describeShare(read, delivered)}</Table.Td>
      <Table.Td>{describeShare(countFailed(funnel), attempted)}</Table.Td>
    </Table.Tr>
  )
}

/** Names of templates have no spaces, so they break after an underscore. */
function breakable(name: string) {
  return name.split(/(?<=_)/).map((part, index) => (
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ))
}

function subtract(totals: Funnel, parts: readonly Funnel[]): Funnel {
  const rest = { ...totals }
  for (const part of parts) for (const stage of stages) rest[stage] -= part[stage]
  return rest
}
