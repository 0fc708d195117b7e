import { readFile, stat } from 'node:fs/promises'
import {
  getRates,
  importRates,
  listRates,
  type RateCardWithMarkets,
  removeRates,
} from '../../../contracts/command-line/rates.ts'
import { type PricingCategory, pricingCategories } from '../../../contracts/pricing.ts'
import { maxRateCardBytes } from '../../messages/costs/rate-card.ts'
import { contractCommand } from '../contract-command.ts'
import { UsageError, waybill } from '../failure.ts'
import { formatTable } from '../help.ts'

export const ratesCommands = [
  contractCommand(importRates, {
    name: 'rates import',
    summary: "Import WhatsApp's rate cards from a CSV file, for the costs in the dashboard",
    args: { FILE: 'text' },
    load: { FILE: readRateCardFile },
    options: { replace: { help: 'Replace rate cards that are valid from the same day on' } },
    notes: [
      'The file has the columns valid_from, currency, market, countries and one for each category, such as marketing,\nutility and authentication (see the costs guide). If a line is wrong, nothing is imported.',
      'Rate cards apply to all accounts, and all have one currency.',
    ],
    examples: ['waybill rates import rates-2026-10.csv', 'waybill rates import rates-2026-10.csv --replace'],
    text: ({ imported }) =>
      imported
        .map(
          ({ validFrom, currency, markets }) =>
            `Imported rates in ${currency} from ${validFrom} on: ${markets} ${markets === 1 ? 'market' : 'markets'}.`,
        )
        .join('\n'),
  }),
  contractCommand(listRates, {
    name: 'rates list',
    summary: 'List the rate cards, oldest first',
    examples: ['waybill rates list', 'waybill rates list --json'],
    text: ({ items }) =>
      items.length === 0
        ? `No rate cards. Import one: ${waybill} rates import FILE`
        : formatTable(
            ['VALID FROM', 'UNTIL', 'CURRENCY', 'IMPORTED'],
            items.map((card) => [card.validFrom, card.validUntil ?? '', card.currency, card.importedAt]),
          ),
  }),
  contractCommand(getRates, {
    name: 'rates show',
    summary: 'Show the rates of a rate card by market',
    args: { DATE: 'validFrom' },
    notes: ['DATE is the first day on which the card is valid, as rates list shows it.'],
    examples: ['waybill rates show 2026-10-01', 'waybill rates show 2026-10-01 --json'],
    text: describeCard,
  }),
  contractCommand(removeRates, {
    name: 'rates remove',
    summary: 'Remove a rate card; the one before it then applies to its days',
    args: { DATE: 'validFrom' },
    examples: ['waybill rates remove 2026-10-01'],
    text: ({ removed }) => `Removed the rates from ${removed} on.`,
  }),
]

/** Runs where the command is typed, because another process may run the command. */
async function readRateCardFile(file: string): Promise<string> {
  const facts = await stat(file).catch(() => undefined)
  if (facts?.isFile() !== true) throw new UsageError(`There is no file ${file}.`)
  if (facts.size > maxRateCardBytes)
    throw new UsageError(`The file ${file} is larger than ${maxRateCardBytes / 1_000_000} MB.`)
  return readFile(file, 'utf8').catch(() => {
    throw new UsageError(`The file ${file} cannot be read.`)
  })
}

function describeCard(card: RateCardWithMarkets): string {
  const categories = pricingCategories.filter((category) => card.markets.some(({ rates }) => category in rates))
  const { validUntil } = card
  const title = `Rates in ${card.currency} from ${card.validFrom} ${validUntil === undefined ? 'on' : `until ${validUntil}`}`
  const table = formatTable(
    ['MARKET', ...categories.map(toHeading), 'COUNTRIES'],
    card.markets.map(({ market, countries, rates }) => [
      market,
      ...categories.map((category) => rates[category] ?? ''),
      countries.map((country) => (country === '*' ? 'all others' : country)).join(' '),
    ]),
  )
  return `${title}\n\n${table}`
}

function toHeading(category: PricingCategory): string {
  return category.toUpperCase().replaceAll('_', ' ')
}
