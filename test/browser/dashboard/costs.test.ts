import { expect, test } from 'vitest'
import { sendMessage } from '../../../contracts/api/message.ts'
import { importRateCards } from '../../../src/messages/costs/rate-cards.ts'
import { applyStatuses } from '../../../src/messages/status/apply-statuses.ts'
import type { TestAccount } from '../../support/server.ts'
import { findAccessibilityViolations, useDashboard } from './support.ts'

const dashboard = useDashboard()

/** Sends messages that are delivered at these prices. */
async function deliver({ accountId, trpc }: TestAccount, ...messages: [to: string, pricing: string | undefined][]) {
  for (const [to, pricing] of messages) {
    const { messageId, waMessageId } = await trpc.message.send.mutate({ ...sendMessage.example.input, to })
    const report = { waMessageId, status: 'delivered' as const, at: new Date(), pricing, error: undefined }
    await applyStatuses(dashboard.server.deps, [{ accountId, messageId, waMessageId, report }])
  }
}

const prices: [string, string | undefined][] = [
  ['34600111222', 'utility'],
  ['34600111223', 'marketing'],
  ['4915112345678', 'marketing'],
  ['5511912345678', 'utility'],
  ['34600111224', 'utility/free_entry_point'],
  ['34600111225', undefined],
]

const rates = [
  'valid_from,currency,market,countries,marketing,utility',
  '2026-01-01,EUR,Spain,ES,0.0509,0.0170',
  '2026-01-01,EUR,Germany,DE,0.1131,0.0456',
].join('\n')

test('shows billable counts without a rate card, then costs by category and country', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn({ role: 'viewer' })
  await deliver(account, ...prices)
  await openOfAccount('overview#costs')

  await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('costs')
  const counts = page.getByRole('region', { name: 'Billable messages' })
  await counts.getByText('4 of 5 delivered messages are billable.').waitFor()
  expect(await counts.textContent()).toContain('No rate card is imported, so there are no amounts.')
  expect(await counts.getByRole('row').allTextContents()).toEqual(['CategoryBillableFree', 'Utility21', 'Marketing20'])

  await importRateCards(dashboard.server.deps, rates)
  await page.reload()
  const costs = page.getByRole('region', { name: 'Estimated cost' })
  // 0.1131 + 0.0509 + 0.0170; Brazil has no rate.
  await costs.getByText('€0.18', { exact: true }).waitFor()
  expect(await costs.getByRole('row').allTextContents()).toEqual([
    'CategoryBillableFreeEUR',
    'Marketing20€0.16',
    'Utility21€0.017',
  ])
  await costs.getByText('Country', { exact: true }).click()
  await costs.getByRole('table', { name: 'Cost by country' }).waitFor()
  expect(await costs.getByRole('row').allTextContents()).toEqual([
    'CountryBillableFreeEUR',
    'Germany10€0.11',
    // Two decimals are not precise enough below 0.10.
    'Spain21€0.0679',
    'Brazil10No rate',
  ])
  const text = await costs.textContent()
  for (const note of [
    'Free: 1 after a free entry point.',
    'Without a rate, and not in the amounts: 1 billable message.',
    'Without a price from WhatsApp, and not in these numbers: 1 delivered message.',
    'valid from Jan 1, 2026. Meta’s invoice decides',
  ])
    expect(text).toContain(note)
  expect(await findAccessibilityViolations(page)).toEqual([])
})

test('estimates a test message as soon as the number is typed', async () => {
  await importRateCards(dashboard.server.deps, rates, { replace: true })
  const { page, openOfAccount } = await dashboard.signedIn()
  await openOfAccount('templates')
  await page.getByRole('link', { name: 'appointment_reminder' }).click()

  const number = page.getByRole('textbox', { name: 'Your phone number' })
  await number.fill('+49 151 12345678')
  await page.getByText('Estimated cost: €0.0456').waitFor()
  await page.getByText('Country of the number: Germany').waitFor()
  expect(await page.getByText('Estimated cost').textContent()).toBe(
    'Estimated cost: €0.0456 outside the sandbox · Utility, Germany, rates in EUR from Jan 1, 2026',
  )
  await number.fill('5511912345678')
  await page.getByText('The rate card has no rate for this number.').waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])
})
