import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Cost } from '../../../contracts/dashboard/cost.ts'
import { toCosts } from '../../../src/messages/costs/costs.ts'
import { toEstimate } from '../../../src/messages/costs/estimate.ts'
import { formatMicros, maxRateCardBytes, parseMicros, parseRateCards } from '../../../src/messages/costs/rate-card.ts'
import type { Charge, StoredRate } from '../../../src/messages/costs/store.ts'
import { applyReport } from '../../../src/messages/status/advance.ts'
import { toPriceClass } from '../../../src/whatsapp/callbacks/wire.ts'
import { pendingState } from '../../support/stored-messages.ts'

const header = 'valid_from,currency,market,countries,marketing,utility,authentication'
const spain = '2026-10-01,EUR,Spain,ES,0.0509,0.0170,0.0170'

const card = (...rows: string[]) => [header, ...rows].join('\n')

/** `line 2: …` of each problem. */
function problemsOf(text: string): string[] {
  const parsed = parseRateCards(text)
  return 'problems' in parsed ? parsed.problems.map(({ line, reason }) => `line ${line}: ${reason}`) : []
}

test('reads the cards of a file, oldest first', () => {
  const text = [
    '\uFEFF# Rates of Meta, from the rate card in EUR',
    'Market,Currency,Valid From,Countries,Marketing,Utility,Authentication-International',
    '',
    '"Rest of Latin America, and more",EUR,2026-10-01,AR BO;EC,0.074,n/a,',
    'Spain,EUR,2026-07-01,ES,0.05,0.0170,0.02\r',
    'Other,EUR,2026-07-01,*,0.06,0,',
  ].join('\n')

  expect(parseRateCards(text)).toEqual({
    cards: [
      {
        validFrom: '2026-07-01',
        currency: 'EUR',
        markets: [
          {
            name: 'Spain',
            countries: ['ES'],
            rates: { marketing: 50_000n, utility: 17_000n, authentication_international: 20_000n },
          },
          { name: 'Other', countries: ['*'], rates: { marketing: 60_000n, utility: 0n } },
        ],
      },
      {
        validFrom: '2026-10-01',
        currency: 'EUR',
        markets: [
          { name: 'Rest of Latin America, and more', countries: ['AR', 'BO', 'EC'], rates: { marketing: 74_000n } },
        ],
      },
    ],
  })
})

test.each([
  { what: 'an empty file', text: '', problem: 'line 1: there are no rates.' },
  { what: 'a file without rows', text: header, problem: 'line 1: there are no rates.' },
  {
    what: 'an unknown category',
    text: `${header},premium\n${spain},1`,
    problem: 'line 1: the column "premium" is unknown.',
  },
  { what: 'a missing column', text: 'valid_from,market,countries,utility', problem: 'line 1: the column currency is' },
  {
    what: 'a column twice',
    text: `${header},utility\n${spain},1`,
    problem: 'line 1: the column utility is duplicated',
  },
  {
    what: 'no category',
    text: 'valid_from,currency,market,countries\n2026-10-01,EUR,Spain,ES',
    problem: 'line 1: there is no category column',
  },
  {
    what: 'a decimal comma',
    text: card('2026-10-01,EUR,Spain,ES,0,0509,0,0170,0,0170'),
    problem: 'line 2: has 10 values instead of 7. Write 0.05, not 0,05.',
  },
  ...['-0.01', '1e-3', '0x1', '.5', '5.', '1 000', '0.0000001', '1000000', 'NaN', '€0.05', '٠.٥'].map((rate) => ({
    what: `the rate ${rate}`,
    text: card(spain.replace('0.0509', rate)),
    problem: `line 2: the rate "${rate}" of marketing is not a decimal`,
  })),
  ...['2026-02-30', '2026-10', '01.10.2026', '1999-12-31', '9999-01-01', "2026-10-01'--"].map((day) => ({
    what: `the day ${day}`,
    text: card(spain.replace('2026-10-01', day)),
    problem: `line 2: valid_from "${day}" is not a date`,
  })),
  ...['eur', 'EURO', 'XYZ', ''].map((currency) => ({
    what: `the currency ${JSON.stringify(currency)}`,
    text: card(spain.replace('EUR', currency)),
    problem: `line 2: currency "${currency}" is not an ISO 4217 code`,
  })),
  {
    what: 'two currencies',
    text: card(spain, '2026-10-01,USD,France,FR,1,1,1'),
    problem: 'line 3: the currency is "USD", but "EUR" in earlier lines.',
  },
  {
    what: 'a country in two markets',
    text: card(spain, '2026-10-01,EUR,Iberia,PT ES,1,1,1'),
    problem: 'line 3: the country "ES" already has rates from 2026-10-01 on in line 2.',
  },
  {
    what: 'two markets for all other countries',
    text: card('2026-10-01,EUR,Other,*,1,1,1', '2026-10-01,EUR,Rest,*,1,1,1'),
    problem: 'line 3: the country "*" already has rates from 2026-10-01 on in line 2.',
  },
  {
    what: 'a market twice',
    text: card(spain, '2026-10-01,EUR,Spain,PT,1,1,1'),
    problem: 'line 3: the market "Spain" already has rates from 2026-10-01 on in line 2.',
  },
  {
    what: 'an unknown country',
    text: card(spain.replace(',ES,', ',ZZ,')),
    problem: 'line 2: the country ZZ is unknown',
  },
  {
    what: 'the name of a country',
    text: card(spain.replace(',ES,', ',España,')),
    problem: 'line 2: "España" is not an ISO 3166 code',
  },
  { what: 'no country', text: card(spain.replace(',ES,', ',,')), problem: 'line 2: countries is empty' },
  { what: 'no market', text: card(spain.replace('Spain', '')), problem: 'line 2: market must not be empty' },
  {
    what: 'a terminal sequence in a market',
    text: card(spain.replace('Spain', '\u001b[2J')),
    problem: 'line 2: market must not contain control characters',
  },
  { what: 'a row without rates', text: card('2026-10-01,EUR,Spain,ES,,n/a,-'), problem: 'line 2: there is no rate.' },
  {
    what: 'an open quotation mark',
    text: card(spain.replace('Spain', '"Spain')),
    problem: 'line 2: a quotation mark is not closed',
  },
  { what: 'a file that is too large', text: card(spain, '#'.repeat(maxRateCardBytes)), problem: 'larger than 1 MB' },
  {
    what: 'too many rows',
    text: card(...Array.from({ length: 10_001 }, () => spain)),
    problem: 'more than 10000 rows',
  },
  { what: 'too many columns', text: ','.repeat(100_000), problem: 'line 1: there are more than 50 columns' },
])('rejects $what with its line', ({ text, problem }) => {
  expect(problemsOf(text)[0]).toContain(problem)
})

test('reports twenty problems and counts the others', () => {
  const parsed = parseRateCards(
    card(...Array.from({ length: 50 }, (_, index) => `2026-10-01,EUR,Market ${index},ZZ,1`)),
  )

  expect(parsed).toMatchObject({ more: 30 })
  expect(problemsOf(card('x,x,x,x,x,x,x')).length).toBeGreaterThan(3)
})

test('never throws on arbitrary text, and keeps every rate exactly', () => {
  const cell = fc.oneof(fc.string(), fc.constantFrom('ES', 'EUR', '2026-10-01', '0.05', '"', ',', '\n', '*'))
  fc.assert(
    fc.property(fc.array(fc.array(cell)), (rows) => {
      const text = card(...rows.map((row) => row.join(',')))
      expect(parseRateCards(text)).toBeTypeOf('object')
    }),
  )
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 999_999_999_999n }), (micros) => {
      expect(parseMicros(formatMicros(micros))).toBe(micros)
    }),
  )
})

const days = ['', '2026-07-01', '2026-10-01']
const countries = ['', 'ES', 'DE', 'BR', 'KE']
const classes = [
  '',
  'utility',
  'marketing',
  'authentication',
  'other',
  'utility/free_customer_service',
  'marketing/free',
]

const charges: fc.Arbitrary<Charge[]> = fc.uniqueArray(
  fc.record({
    validFrom: fc.constantFrom(...days),
    country: fc.constantFrom(...countries),
    pricing: fc.constantFrom(...classes),
    count: fc.integer({ min: 1, max: 2_000_000_000 }),
  }),
  { selector: ({ validFrom, country, pricing }) => `${validFrom} ${country} ${pricing}`, maxLength: 80 },
)

const rates: fc.Arbitrary<StoredRate[]> = fc.uniqueArray(
  fc.record({
    validFrom: fc.constantFrom('2026-07-01', '2026-10-01'),
    country: fc.constantFrom('*', 'ES', 'DE'),
    category: fc.constantFrom('utility', 'marketing', 'authentication'),
    market: fc.constant('Market'),
    micros: fc.bigInt({ min: 0n, max: 999_999_999_999n }),
  }),
  { selector: ({ validFrom, country, category }) => `${validFrom} ${country} ${category}` },
)

function add(parts: readonly Cost[]): Omit<Cost, 'amount'> & { micros: bigint } {
  const sum = { billable: 0, free: 0, unrated: 0, micros: 0n }
  for (const { billable, free, unrated, amount = '0' } of parts) {
    sum.billable += billable
    sum.free += free
    sum.unrated += unrated
    const [whole = '0', fraction = ''] = amount.split('.')
    sum.micros += BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
  }
  return sum
}

test('adds up random charges exactly, to a millionth', () => {
  fc.assert(
    fc.property(charges, rates, (charged, rates) => {
      const costs = toCosts(charged, { rates, currency: 'EUR' })

      const total = add([costs.totals])
      expect(add(costs.categories)).toEqual(total)
      expect(add(costs.countries)).toEqual(total)
      expect(costs.freeReasons.reduce((sum, { count }) => sum + count, 0)).toBe(total.free)
      const delivered = charged.reduce((sum, { count }) => sum + count, 0)
      expect(total.billable + total.free + costs.unpriced).toBe(delivered)

      // One message at a time, from the definition of a rate.
      let expected = 0n
      let unrated = 0
      for (const { validFrom, country, pricing, count } of charged) {
        if (pricing === '' || pricing.includes('/')) continue
        const ofCard = rates.filter((rate) => rate.validFrom === validFrom)
        const market = ofCard.some((rate) => rate.country === country) ? country : '*'
        const rate = ofCard.find((rate) => rate.country === market && rate.category === pricing)
        if (country === '' || !rate) unrated += count
        else expected += rate.micros * BigInt(count)
      }
      expect(total).toMatchObject({ micros: expected, unrated })
    }),
    { numRuns: 300 },
  )
})

test('shows counts and no amounts without a rate card', () => {
  const costs = toCosts(
    [
      { validFrom: '', country: 'ES', pricing: 'utility', count: 3 },
      { validFrom: '', country: 'ES', pricing: 'utility/free_entry_point', count: 2 },
      { validFrom: '', country: 'ES', pricing: '', count: 1 },
    ],
    { rates: [], currency: undefined },
  )

  expect(costs).toEqual({
    rateCards: [],
    totals: { billable: 3, free: 2, unrated: 3 },
    unpriced: 1,
    categories: [{ category: 'utility', billable: 3, free: 2, unrated: 3 }],
    countries: [{ country: 'ES', billable: 3, free: 2, unrated: 3 }],
    freeReasons: [{ reason: 'free_entry_point', count: 2 }],
  })
})

const spanish = (category: StoredRate['category'], micros: bigint): StoredRate => ({
  validFrom: '2026-10-01',
  country: 'ES',
  category,
  market: 'Spain',
  micros,
})
const other: StoredRate = { ...spanish('marketing', 60_000n), country: '*', market: 'Other' }

test.each([
  { to: '34600111222', category: 'UTILITY', found: { amount: '0.017', market: 'Spain', category: 'utility' } },
  { to: '254700111222', category: 'MARKETING', found: { amount: '0.06', market: 'Other', category: 'marketing' } },
  // Spain has its own rates, but none for marketing.
  { to: '34600111222', category: 'MARKETING', found: undefined },
  { to: '254700111222', category: 'UTILITY', found: undefined },
  { to: '999', category: 'MARKETING', found: undefined },
  { to: '34600111222', category: 'FREE_SERVICE', found: undefined },
  {
    to: '34600111222',
    category: 'AUTHENTICATION',
    found: { amount: '0.02', internationalAmount: '0.05', category: 'authentication', market: 'Spain' },
  },
])('estimates $category to $to as $found.amount', ({ to, category, found }) => {
  const rates = [
    spanish('utility', 17_000n),
    spanish('authentication', 20_000n),
    spanish('authentication_international', 50_000n),
    other,
  ]
  const estimate = toEstimate(rates, { to, category, currency: 'EUR' })
  expect(estimate).toEqual(found && { ...found, currency: 'EUR', rateCardDate: '2026-10-01' })
})

test.each([
  { pricing: { billable: true, type: 'regular', category: 'utility' }, kept: 'utility' },
  { pricing: { billable: true, category: 'marketing' }, kept: 'marketing' },
  { pricing: { type: 'regular', category: 'authentication-international' }, kept: 'authentication_international' },
  {
    pricing: { billable: false, type: 'free_customer_service', category: 'utility' },
    kept: 'utility/free_customer_service',
  },
  { pricing: { type: 'free_entry_point', category: 'marketing' }, kept: 'marketing/free_entry_point' },
  // The type decides.
  { pricing: { billable: false, type: 'regular', category: 'utility' }, kept: 'utility' },
  { pricing: { billable: true, type: 'free_entry_point', category: 'utility' }, kept: 'utility/free_entry_point' },
  { pricing: { billable: false, category: 'utility' }, kept: 'utility/free' },
  { pricing: { category: 'marketing_lite' }, kept: 'marketing_lite' },
  { pricing: { type: 'regular', category: 'service', subtype: 'paid_exempt' }, kept: 'service/paid_exempt' },
  { pricing: { type: 'free_for_all', category: 'utility' }, kept: 'utility/free' },
  { pricing: { billable: true, category: "new'); drop table messages" }, kept: 'other' },
  { pricing: { billable: true, category: 'marketing_lite' }, kept: 'marketing_lite' },
  {
    pricing: { billable: true, type: 'regular', category: 'service', subtype: 'paid_exempt' },
    kept: 'service/paid_exempt',
  },
  { pricing: { billable: true }, kept: undefined },
])('keeps the pricing $pricing as $kept', ({ pricing, kept }) => {
  expect(toPriceClass(pricing)).toBe(kept)
})

test('keeps the same price for any order of statuses', () => {
  const pricing = fc.option(fc.constantFrom(...classes.filter(Boolean)), { nil: undefined })
  const reports = fc.array(fc.record({ status: fc.constantFrom('sent', 'delivered', 'read', 'failed'), pricing }))
  type Reported = { status: 'sent' | 'delivered' | 'read' | 'failed'; pricing: string | undefined }
  const priceAfter = (all: readonly Reported[]) =>
    all.reduce<Parameters<typeof applyReport>[0]>(
      (state, each) => applyReport(state, { ...each, waMessageId: 'wamid.1', at: new Date(0), error: undefined }).state,
      pendingState,
    ).pricing
  fc.assert(
    fc.property(reports, (all) => {
      const price = priceAfter(all)
      expect(priceAfter(all.toReversed())).toBe(price)
      expect(priceAfter([...all, ...all])).toBe(price)
      const charged = all.filter(({ status, pricing }) => status !== 'failed' && pricing !== undefined)
      // A message counts as charged if any status reports it as charged.
      expect(price?.includes('/') ?? true).toBe(charged.every(({ pricing }) => pricing?.includes('/')))
    }),
  )
})
