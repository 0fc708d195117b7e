import { type MessageDescriptor } from '@lingui/core'
import { msg, plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Anchor, SegmentedControl, Table, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { describeCountry, formatList, formatNumber } from '../../language/format.ts'
import { translate } from '../../language/i18n.ts'
import type { Cost, Costs } from '../../../../contracts/dashboard/cost.ts'
import { api } from '../../api/client.ts'
import { useAccount, useUser } from '../../session/session.ts'
import { describeAmount, describeCategory, describePrice } from '../../ui/money.ts'
import { Section, useHashTarget } from '../../ui/page.tsx'
import { ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { describeDay } from '../../ui/time.ts'
import { Bar } from './figures.tsx'
import styles from './overview.module.css'
import { type Selection, toInput } from './period.ts'

const dimensions = [
  { value: 'categories', label: msg`Category` },
  { value: 'countries', label: msg`Country` },
] as const
type Dimension = (typeof dimensions)[number]['value']

const maxListed = 10
const refreshMilliseconds = 10_000

/** The cost of the delivered messages of the period, at the rates that the operator imported. */
export function CostSection({ selection }: { selection: Selection }) {
  const { accountId } = useAccount()
  const [dimension, setDimension] = useState<Dimension>('categories')
  const { compareWith: _compareWith, ...input } = toInput(selection)
  const costs = useQuery({
    queryKey: ['cost', accountId, input],
    queryFn: ({ signal }) => api.cost.get.query({ accountId, ...input }, { signal }),
    refetchInterval: refreshMilliseconds,
    placeholderData: keepPreviousData,
  })
  const { data } = costs
  const hasCosts = data !== undefined && data.totals.billable + data.totals.free > 0
  useHashTarget(!costs.isPending)
  return (
    <Section
      id="costs"
      title={data?.currency === undefined ? t`Billable messages` : t`Estimated cost`}
      actions={
        hasCosts && (
          <SegmentedControl
            size="xs"
            aria-label={t`Show costs by`}
            data={dimensions.map(({ value, label }) => ({ value, label: translate(label) }))}
            value={dimension}
            onChange={setDimension}
          />
        )
      }
    >
      {costs.isPending && <LoadingSkeleton lines={4} />}
      {costs.isError && <ErrorAlert error={costs.error} onRetry={() => costs.refetch()} />}
      {data && !hasCosts && (
        <Text size="sm">
          <Trans>
            WhatsApp has not reported a price for this period yet. It reports the price when a message is delivered.
          </Trans>
        </Text>
      )}
      {data && hasCosts && (
        <>
          <Total costs={data} />
          <CostTable costs={data} dimension={dimension} />
        </>
      )}
      {data && <Notes costs={data} />}
    </Section>
  )
}

function Total({ costs: { totals, currency } }: { costs: Costs }) {
  const { billable, free, amount } = totals
  const counts = t`${formatNumber(billable)} billable, ${formatNumber(free)} free`
  if (currency === undefined || amount === undefined)
    return (
      <Text size="sm" mb="md">
        <Trans>
          <strong>{formatNumber(billable)}</strong> of {formatNumber(billable + free)} delivered messages are billable.
        </Trans>
      </Text>
    )
  return (
    <Text mb="md" className={styles['numbers']}>
      <Text span className={styles['value']}>
        {describeAmount(amount, currency)}
      </Text>{' '}
      <Text span size="sm" c="dimmed">
        <Trans>for {counts}</Trans>
        {billable > 0 && ` · ${t`about ${describePrice(toAverage(amount, billable), currency)} each`}`}
      </Text>
    </Text>
  )
}

/** An approximation, because the price of a message depends on its category and country. */
function toAverage(amount: string, billable: number): string {
  return (Number(amount) / billable).toFixed(4)
}

interface NamedCost extends Cost {
  key: string
  name: string
}

function listRows(costs: Costs, dimension: Dimension): NamedCost[] {
  return dimension === 'categories'
    ? costs.categories.map((cost) => ({ ...cost, key: cost.category, name: describeCategory(cost.category) }))
    : costs.countries.map((cost) => ({ ...cost, key: cost.country, name: describeCountry(cost.country) }))
}

/** The length of a bar. May be approximate, unlike the amounts. */
function sizeOf({ amount, billable }: Cost): number {
  return amount === undefined ? billable : Number(amount)
}

function CostTable({ costs, dimension }: { costs: Costs; dimension: Dimension }) {
  const { currency } = costs
  const rows = listRows(costs, dimension)
  const others = rows.slice(maxListed)
  // Bars are relative to the largest row.
  const largest = Math.max(...rows.map(sizeOf))
  return (
    <div className={styles['tableArea']}>
      <Table
        aria-label={dimension === 'categories' ? t`Cost by category` : t`Cost by country`}
        fz="sm"
        horizontalSpacing={0}
        verticalSpacing={6}
        className={styles['breakdown']}
        data-columns={currency === undefined ? 2 : 3}
      >
        <Table.Thead>
          <Table.Tr c="dimmed" fz="xs">
            <Table.Th scope="col">{dimension === 'categories' ? t`Category` : t`Country`}</Table.Th>
            <Table.Th scope="col">{t`Billable`}</Table.Th>
            <Table.Th scope="col">{t`Free`}</Table.Th>
            {currency !== undefined && <Table.Th scope="col">{currency}</Table.Th>}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.slice(0, maxListed).map((row) => (
            <Table.Tr key={row.key}>
              <Table.Th scope="row" fw={400}>
                {row.name}
                <Bar segment="inTransit" share={largest === 0 ? 0 : sizeOf(row) / largest} />
              </Table.Th>
              <Table.Td>{formatNumber(row.billable)}</Table.Td>
              <Table.Td>{formatNumber(row.free)}</Table.Td>
              {currency !== undefined && <Table.Td fw={500}>{describeRowAmount(row, currency)}</Table.Td>}
            </Table.Tr>
          ))}
          {others.length > 0 && (
            <Table.Tr>
              <Table.Th scope="row" fw={400}>
                <Trans>{formatNumber(others.length)} others</Trans>
              </Table.Th>
              <Table.Td>{formatNumber(others.reduce((sum, { billable }) => sum + billable, 0))}</Table.Td>
              <Table.Td>{formatNumber(others.reduce((sum, { free }) => sum + free, 0))}</Table.Td>
              {currency !== undefined && <Table.Td>{t`In the total`}</Table.Td>}
            </Table.Tr>
          )}
        </Table.Tbody>
      </Table>
    </div>
  )
}

/** Avoids showing 0 if no message has a rate. */
function describeRowAmount({ billable, unrated, amount = '0' }: Cost, currency: string): string {
  return billable > 0 && unrated === billable ? t`No rate` : describeAmount(amount, currency)
}

function describeSandbox(currency: string | undefined): string {
  return currency === undefined
    ? t`WhatsApp is simulated here and charges nothing. With a real number, it would bill these messages.`
    : t`WhatsApp is simulated here and charges nothing. With a real number and these rates, it would bill this amount. The sandbox starts with invented rates.`
}

const reasonNames = {
  free_customer_service: msg`inside a customer service window, or in the free tier`,
  free_entry_point: msg`after a free entry point`,
  free_group_customer_service: msg`inside a customer service window of a group`,
  paid_exempt: msg`of exempt organizations`,
  free: msg`for another reason`,
} satisfies Record<Costs['freeReasons'][number]['reason'], MessageDescriptor>

function Notes({ costs: { currency, rateCards, totals, unpriced, freeReasons } }: { costs: Costs }) {
  const { sandbox } = useUser()
  const free = freeReasons.map(({ reason, count }) => `${formatNumber(count)} ${translate(reasonNames[reason])}`)
  const notes = [
    sandbox !== undefined && totals.billable > 0 && describeSandbox(currency),
    free.length > 0 && t`Free: ${free.join(', ')}.`,
    currency !== undefined &&
      totals.unrated > 0 &&
      plural(totals.unrated, {
        one: 'Without a rate, and not in the amounts: # billable message.',
        other: 'Without a rate, and not in the amounts: # billable messages.',
      }),
    unpriced > 0 &&
      plural(unpriced, {
        one: 'Without a price from WhatsApp, and not in these numbers: # delivered message.',
        other: 'Without a price from WhatsApp, and not in these numbers: # delivered messages.',
      }),
    currency !== undefined &&
      rateCards.length > 0 &&
      t`At the list rates in ${currency} valid from ${formatList(rateCards.map(describeDay))}. Meta’s invoice decides: volume tiers and taxes are not included.`,
  ].filter((note) => note !== false)
  return (
    <>
      {notes.map((note) => (
        <Text key={note} size="xs" c="dimmed" mt="xs">
          {note}
        </Text>
      ))}
      {currency === undefined && (
        <Text size="xs" c="dimmed" mt="xs">
          <Trans>
            No rate card is imported, so there are no amounts. It lists Meta’s prices: ask the person who runs this
            server to import it.{' '}
            <Anchor href="/docs/costs" target="_blank" fz="inherit" underline="always">
              Read about costs
            </Anchor>
          </Trans>
        </Text>
      )}
    </>
  )
}
