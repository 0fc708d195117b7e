import { execFileSync } from 'node:child_process'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { updateAccount } from '../../../src/accounts/account.ts'
import { addEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import { post } from '../../support/callbacks.ts'
import { repliesCallback, replyTime, tap, text, userMessage } from '../../support/replies.ts'
import type { TestAccount } from '../../support/server.ts'
import { accept, respond } from '../../support/webhook-receiver.ts'
import { useDeliveries } from './deliveries.ts'
import { listBeside, report, send, type Sent } from './sent-messages.ts'
import { findAccessibilityViolations, findViolationsInBothSchemes } from './support.ts'

const { dashboard, receiver } = useDeliveries()

test('updates the timeline of an open message', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const message = await send(account, 'order-1')
  await openOfAccount('messages')
  await page
    .getByRole('row', { name: /order-1/ })
    .getByText('Sent')
    .waitFor()
  await page.getByRole('link', { name: '+34600111222' }).click()
  const panel = page.getByRole('region', { name: '+34600111222' })
  await panel.waitFor()
  const steps = page.getByRole('list', { name: 'Steps' }).getByRole('listitem')
  expect(await steps.filter({ hasText: /has not .* yet/ }).count()).toBe(2)

  await report(dashboard.server, message, 'delivered')
  await steps.filter({ hasText: 'Delivered' }).getByRole('time').waitFor()
  expect(await steps.filter({ hasText: /has not .* yet/ }).count()).toBe(1)

  await report(dashboard.server, message, 'read')
  await steps.filter({ hasText: 'The recipient read the message' }).getByRole('time').waitFor()
  expect(await steps.filter({ hasText: /has not .* yet/ }).count()).toBe(0)

  // The list beside the panel refreshes too.
  await listBeside(page).getByText('Read').waitFor()
})

test('explains a failed message and retries its webhook', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  receiver.behave(respond(500), '/broken?token=hush')
  await addEndpoint(dashboard.server.deps, account.accountId, { url: `${receiver.url}/broken?token=hush` })
  const message = await send(account, 'order-1')
  await report(dashboard.server, message, 'failed', { code: '131026', message: 'Message undeliverable' })

  await openOfAccount(`messages/${message.messageId}`)
  const alert = page.getByRole('alert').filter({ hasText: 'The message cannot reach this recipient.' })
  await alert.waitFor()
  expect(await alert.textContent()).toMatch(/Check the number.*error 131026: Message undeliverable/)
  await page.getByRole('button', { name: /^message.failed.*1 attempt/ }).click()
  await page.getByText('HTTP 500').last().waitFor()
  expect(await page.getByRole('region', { name: 'Start of the response' }).textContent()).toBe('answer 500')
  expect(await page.content()).not.toContain('hush')

  receiver.behave(accept, '/broken?token=hush')
  await page.getByRole('button', { name: 'Retry now' }).click()
  await page.getByText('HTTP 200').last().waitFor()
  await page.getByRole('link', { name: 'View endpoint' }).click()
  await page.getByRole('heading', { level: 1, name: new URL(receiver.url).host }).waitFor()
})

test('shows how to fix a failure before the actions, and the age of new messages only', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const message = await send(account, 'order-1')
  const { messageId } = message
  await report(dashboard.server, message, 'failed', { code: '131026', message: 'Message undeliverable' })
  await openOfAccount(`messages?message=${messageId}`)
  const panel = page.getByRole('region', { name: /^\+34/ })
  const advice = await panel.getByRole('alert').boundingBox()
  const actions = await panel.getByRole('button', { name: 'Send again' }).boundingBox()
  expect((advice?.y ?? 0) + (advice?.height ?? 0)).toBeLessThanOrEqual(actions?.y ?? 0)
  expect(await panel.getByText('just now').count()).toBe(1)

  const dayOld = new Date(Date.now() - 25 * 3_600_000)
  await dashboard.server.deps.db
    .updateTable('messages')
    .set({ created_at: dayOld })
    .where('id', '=', messageId)
    .execute()
  await page.reload()
  await panel.getByRole('alert').waitFor()
  const head = panel.getByText(dayOld.toLocaleString('en-US', { month: 'short', day: 'numeric' })).first()
  expect(await head.textContent()).not.toContain('·')
})

test('suppresses messages to the recipient of a message', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const { messageId } = await send(account, 'order-1')
  await openOfAccount(`messages?message=${messageId}`)
  await page.getByRole('button', { name: 'Stop messages' }).click()
  const dialog = page.getByRole('dialog', { name: 'Stop messages to +34600111222?' })
  await dialog.getByText('Still sent: order notices').waitFor()
  // The usual choice would not stop an order notice.
  expect(await dialog.getByRole('button', { name: 'Stop messages' }).isEnabled()).toBe(false)
  await dialog.getByRole('radio', { name: 'Only marketing' }).check()
  await dialog.getByRole('button', { name: 'Stop messages' }).click()
  await page.getByText('+34600111222 is on the suppression list now.').waitFor()
  const list = async () => (await account.trpc.suppression.list.query({})).items
  expect(await list()).toMatchObject([{ to: '34600111222', reason: 'manual', allMessages: false }])
  await page.getByText(/^On the suppression list since .* Stopped: Marketing\./).waitFor()
  const again = page.getByRole('button', { name: 'Send again' })
  expect(await again.isEnabled()).toBe(true)

  await page.getByRole('button', { name: 'Stop all messages' }).click()
  await dialog.getByText('All messages are stopped').waitFor()
  await dialog.getByRole('button', { name: 'Stop messages' }).click()
  await page.getByText('Gets no messages').waitFor()
  expect(await list()).toMatchObject([{ allMessages: true }])
  expect(await page.getByRole('button', { name: 'Stop all messages' }).count()).toBe(0)
  expect(await again.isEnabled()).toBe(false)
  await again.hover()
  await page.getByRole('tooltip', { name: 'The suppression list stops this message.' }).waitFor()
})

test('shows replies and tapped buttons in the timeline of an open message', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const { messageId, waMessageId } = await send(account, 'order-1')
  await openOfAccount(`messages?message=${messageId}`)
  const steps = page.getByRole('region', { name: '+34600111222' }).getByRole('list', { name: 'Steps' })
  await steps.getByText('The recipient has not read the message yet').waitFor()

  const replies = [userMessage(tap('Yes'), waMessageId), userMessage(text('Where is it?'), waMessageId)]
  await post(dashboard.server, repliesCallback(account.phoneNumberId, replies))

  await steps.getByText('Tapped “Yes”').waitFor()
  await steps.getByText('The webhook event message.replied has the text.').waitFor()
  expect(await steps.getByRole('listitem').last().getByRole('time').getAttribute('datetime')).toBe(
    new Date(replyTime * 1000).toISOString(),
  )
  // Who replies has read the message, even with read receipts turned off.
  await steps.getByText('The recipient read the message.').waitFor()
  expect(await page.getByText('Where is it?').count()).toBe(0)
  expect(await findAccessibilityViolations(page)).toEqual([])
})

test('shows the sent content, its webhook and the request as curl', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  receiver.behave(accept, '/payload')
  await addEndpoint(dashboard.server.deps, account.accountId, { url: `${receiver.url}/payload` })
  const message = await send(account, "order-1 for Ada's shop")
  await report(dashboard.server, message, 'delivered')
  await openOfAccount(`messages?message=${message.messageId}`)
  const panel = page.getByRole('region', { name: '+34600111222' })
  await panel.getByRole('figure', { name: 'Message preview' }).getByText('is on its way').waitFor()

  await panel.getByRole('button', { name: /^message.delivered.*1 attempt/ }).click()
  await panel.getByText('HTTP 200').last().waitFor()
  await panel.getByRole('button', { name: 'View payload' }).click()
  const payload = await page.getByRole('region', { name: 'Payload', exact: true }).textContent()
  expect(JSON.parse(payload ?? '')).toEqual(JSON.parse(receiver.at('/payload').at(-1)?.body ?? ''))
  // The key closes only the dialog, even if the dialog has not taken the focus yet.
  await page.getByRole('dialog').locator(':focus').waitFor()
  await page.evaluate('document.activeElement.blur()')
  await page.keyboard.press('Escape')

  await panel.getByRole('button', { name: 'Copy as curl' }).click()
  const curl = await page.evaluate<string>('navigator.clipboard.readText()')
  expect(curl).toContain('-H "X-API-Key: $WAYBILL_API_KEY"')
  const output = execFileSync('sh', [
    '-c',
    `curl() { printf '%s\\n' "$@"; }; WAYBILL_API_KEY=key_of_the_shell; ${curl}`,
  ])
  const [url, , key, , , , idempotencyKey, , ...body] = output.toString().split('\n')
  expect(url).toBe(`${dashboard.server.url}/api/v1/message/send`)
  expect(key).toBe('X-API-Key: key_of_the_shell')
  expect(idempotencyKey).toMatch(/^Idempotency-Key: again-msg_/)
  expect(JSON.parse(body.join('\n'))).toEqual({
    to: '34600111222',
    template: 'order_shipped',
    language: 'en',
    variables: { '1': '<1>', '2': '<2>' },
    externalId: "order-1 for Ada's shop",
    accountId: account.whatsAppAccountId,
  })
})

test('sends a message again with new values', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const { messageId } = await send(account, 'order-1')
  await openOfAccount(`messages?message=${messageId}`)
  await page.getByRole('button', { name: 'Send again' }).click()
  const dialog = page.getByRole('dialog', { name: 'Send this message again?' })
  await dialog.getByText('sent to +34600111222').waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])

  await dialog.getByLabel('{{1}}').fill('Grace')
  await dialog.getByRole('figure').getByText('Hello Grace').waitFor()
  await dialog.getByRole('button', { name: 'Send again' }).click()
  await dialog.getByText('Must not be empty.').waitFor()
  await dialog.getByLabel('{{2}}').fill('WB-2000')
  await dialog.getByRole('button', { name: 'Send again' }).click()

  await page.getByText('Message sent again.').waitFor()
  await expect.poll(() => new URL(page.url()).searchParams.get('message')).not.toBe(messageId)
  await expect.poll(() => listBeside(page).count()).toBe(2)
})

test('says that a message may have been sent again if the response was lost', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const { messageId } = await send(account, 'order-1')
  await openOfAccount(`messages?message=${messageId}`)
  await page.route(/message\.sendAgain/, async (route) => {
    await route.fetch()
    await route.abort()
  })
  await page.getByRole('button', { name: 'Send again' }).click()
  const dialog = page.getByRole('dialog', { name: 'Send this message again?' })
  await dialog.getByLabel('{{1}}').fill('Grace')
  // A click outside keeps what was typed.
  await page.mouse.click(5, 5)
  await dialog.getByLabel('{{2}}').fill('WB-2000')

  await dialog.getByRole('button', { name: 'Send again' }).click()

  const alert = dialog.getByRole('alert').filter({ hasText: 'Outcome unknown' })
  await alert.getByText('The message may have been sent.').waitFor()
  expect(await dialog.getByText('Message not sent').count()).toBe(0)
  expect((await account.trpc.message.list.query({})).items).toHaveLength(2)
})

test('shows the content of a message, and repeats it with the same values', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await updateAccount(dashboard.server.deps, account.accountId, { messageContentsDays: 30 })
  await account.template({ name: 'ready', body: 'Dear {{1}}, parcel {{2}} is ready.' })
  const variables = { '1': "Zoë O'Hara", '2': '*A-7* {{3}}' }
  const request = { to: '34600111222', template: 'ready', language: 'en', variables, externalId: 'order-1' }
  const { messageId } = await account.trpc.message.send.mutate(request)
  await openOfAccount(`messages?message=${messageId}`)
  const panel = page.getByRole('region', { name: '+34600111222' })
  const preview = panel.getByRole('figure', { name: 'Message preview' })
  await preview.getByText("Dear Zoë O'Hara, parcel A-7 {{3}} is ready.").waitFor()
  expect(await findAccessibilityViolations(page)).toEqual([])

  await panel.getByRole('button', { name: 'Copy as curl' }).click()
  const curl = await page.evaluate<string>('navigator.clipboard.readText()')
  const output = execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }; ${curl}`])
  expect(JSON.parse(output.toString().split('\n').slice(8).join('\n'))).toEqual({
    ...request,
    accountId: account.whatsAppAccountId,
  })
  expect(page.url()).not.toContain('Zo')
  expect(await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).not.toContain(
    'Zo',
  )

  await panel.getByRole('button', { name: 'Send again' }).click()
  const dialog = page.getByRole('dialog', { name: 'Send this message again?' })
  await dialog.getByText('These are the values of the first message.').waitFor()
  expect(await dialog.getByLabel('{{1}}').inputValue()).toBe("Zoë O'Hara")
  await dialog.getByLabel('{{2}}').fill('A-8')
  await dialog.getByRole('button', { name: 'Send again' }).click()
  await page.getByText('Message sent again.').waitFor()
  await page.getByRole('figure').getByText("Dear Zoë O'Hara, parcel A-8 is ready.").waitFor()
})

test('shows the sent text after its template changed, and why a text is unknown', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const { deps } = dashboard.server
  const before = await send(account, 'order-0')
  await updateAccount(deps, account.accountId, { messageContentsDays: 30 })
  const { messageId } = await send(account, 'order-1')
  await sql`update templates set components = '[{"type":"BODY","text":"Another text."}]'
    where account_id = ${account.accountId} and name = 'order_shipped'`.execute(deps.db)

  await openOfAccount(`messages?message=${messageId}`)
  const preview = page.getByRole('figure', { name: 'Message preview' })
  await preview.getByText('Hello Ada, your order WB-1042 is on its way.').waitFor()
  await page.getByText('The template was changed later. This is the text that was sent.').waitFor()
  await page.getByRole('button', { name: 'Send again' }).click()
  const dialog = page.getByRole('dialog', { name: 'Send this message again?' })
  await dialog.getByText('The new message can say something else.').waitFor()

  await sql`update message_contents set content_encrypted = 'v1.00000000.x.x'
    where account_id = ${account.accountId}`.execute(deps.db)
  await openOfAccount(`messages?message=${messageId}`)
  await page.getByText('the server has no key that decrypts the stored content').waitFor()
  await openOfAccount(`messages?message=${before.messageId}`)
  await page.getByText('the content of this message is not stored, or no longer stored').waitFor()
  await updateAccount(deps, account.accountId, { messageContentsDays: null })
  await openOfAccount(`messages?message=${before.messageId}`)
  await page.getByText('message contents are not stored').waitFor()
  await page.getByRole('link', { name: 'Message contents' }).click()
  await page.getByRole('heading', { name: 'Message contents' }).waitFor()
})

const componentsOf = (sent: unknown) => (sent as { template: { components: unknown } }).template.components

test('fills the form with stored headers, buttons and cards', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  await updateAccount(dashboard.server.deps, account.accountId, { messageContentsDays: 30 })
  const variables = { '1': 'Ada' }
  const buttons = [
    { index: 0, payload: 'paid:81' },
    { index: 1, url: 'B-81' },
  ]
  const header = { document: { link: 'https://example.com/81.pdf', filename: '81.pdf' } }
  const request = { to: '34600111222', template: 'invoice', language: 'en', variables, header, buttons }
  const { messageId } = await account.trpc.message.send.mutate(request)
  await openOfAccount(`messages?message=${messageId}`)
  await page.getByRole('figure', { name: 'Message preview' }).getByText('81.pdf').waitFor()

  await page.getByRole('button', { name: 'Send again' }).click()
  const dialog = page.getByRole('dialog', { name: 'Send this message again?' })
  await dialog.getByRole('button', { name: 'Send again' }).click()
  await page.getByText('Message sent again.').waitFor()

  const { body } = dashboard.server.simulator.requests.at(-1) ?? {}
  const first = dashboard.server.simulator.requests.at(-2)?.body
  expect(componentsOf(body)).toEqual(componentsOf(first))
})

test('lets a viewer read deliveries but not retry them', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn({ role: 'viewer' })
  const message = await seedMessages(account)
  await openOfAccount(`messages/${message.messageId}`)
  await page.getByRole('button', { name: /^message.failed/ }).click()
  const retry = page.getByRole('button', { name: 'Retry now' })
  expect(await retry.getAttribute('aria-disabled')).toBe('true')
  await retry.hover()
  await page.getByText('Viewers have read-only access').waitFor()
})

test.each([
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
])('shows accessible message pages at $width px', async (viewport) => {
  const { page, openOfAccount, account } = await dashboard.signedIn({ viewport })
  await openOfAccount('messages')
  await page.getByText('Send your first message').waitFor()
  expect(await findViolationsInBothSchemes(page)).toEqual([])

  const message = await seedMessages(account)
  await page.getByRole('link', { name: '+34600111222' }).first().waitFor()
  expect(await findViolationsInBothSchemes(page)).toEqual([])
  const width = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
  expect(width).toBe(0)

  await page.getByRole('link', { name: '+34600111222' }).first().click()
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  await page.getByRole('figure', { name: 'Message preview' }).waitFor()
  expect(await findViolationsInBothSchemes(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBe(0)

  await openOfAccount(`messages/${message.messageId}`)
  await page.getByRole('button', { name: /^message.failed.*1 attempt/ }).click()
  await page.getByText('HTTP 500').last().waitFor()
  expect(await findViolationsInBothSchemes(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBe(0)
})

/** Sends a message in every status; the webhook of the failed one fails too. */
async function seedMessages(account: TestAccount): Promise<Sent> {
  receiver.behave(respond(500), '/furnished')
  await addEndpoint(dashboard.server.deps, account.accountId, { url: `${receiver.url}/furnished` })
  for (const status of ['sent', 'delivered', 'read'] as const)
    await report(dashboard.server, await send(account, status), status)
  const failed = await send(account, 'failed')
  await report(dashboard.server, failed, 'failed', { code: '131049', message: 'This message was not delivered' })
  return failed
}

test('warns before a message with an unknown outcome is sent again, and offers to record the outcome', async () => {
  const { page, openOfAccount, account } = await dashboard.signedIn()
  const { db } = dashboard.server.deps
  const { messageId } = await send(account, 'order-unknown')
  const readStatus = async () => {
    const query = db.selectFrom('messages').select('status').where('id', '=', messageId)
    return (await query.executeTakeFirstOrThrow()).status
  }
  // The outcome may be stored after the response.
  await expect.poll(readStatus).toBe('sent')
  // As if the response to the send had been lost two minutes ago.
  await sql`
    update messages set status = 'pending', sent_at = null, wa_message_id = null,
      created_at = now() - interval '2 minutes', recorded_at = now() - interval '2 minutes'
    where id = ${messageId}`.execute(db)
  await sql`insert into overdue_messages (account_id, id) values (${account.accountId}, ${messageId})`.execute(db)

  await openOfAccount('overview')
  await page.getByRole('link', { name: /1 more, outcome unknown/ }).click()
  await page.getByText('Status: Pending: outcome unknown').waitFor()
  await page.getByRole('link', { name: '+34600111222' }).click()
  const panel = page.getByRole('region', { name: '+34600111222' })
  await panel.getByText('Outcome unknown', { exact: true }).waitFor()
  await panel.getByText('It is unknown whether WhatsApp accepted the message.').waitFor()
  await panel.getByRole('button', { name: 'Send again' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('The recipient may get this message twice').waitFor()
  await dialog.getByRole('button', { name: 'Send anyway' }).waitFor()

  await dialog.getByRole('button', { name: 'It was not sent' }).click()

  await dialog.getByRole('button', { name: 'Send again' }).waitFor()
  expect(await dialog.getByText('The recipient may get this message twice').count()).toBe(0)
  expect(await readStatus()).toBe('failed')
})
