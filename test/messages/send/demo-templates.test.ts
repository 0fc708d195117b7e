import { expect, test } from 'vitest'
import { sendableDemoTemplates } from '../../support/demo-templates.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer } from '../../support/server.ts'

/** The sandbox's templates show what can be sent, so each is sent with its example. */

const server = await forFile(startTestServer())
const account = await server.account()

const to = '34600111222'

function sentToWhatsApp(name: string): unknown[] {
  return server.simulator.requests.filter(
    ({ path, body }) =>
      path === `/${account.phoneNumberId}/messages` && JSON.stringify(body).includes(`"name":"${name}"`),
  )
}

test.each(sendableDemoTemplates)('sends the example of $name ($language)', async ({ name, language }) => {
  const before = sentToWhatsApp(name).length
  const read = await account.get(`/api/v1/template/${name}/${language}`)
  const { example } = read.json().data as { example: object }

  const sent = await account.post('/api/v1/message/send', { ...example, to })

  expect(sent.json()).toMatchObject({ success: true, data: { status: 'sent', template: name, to } })
  expect(sentToWhatsApp(name)).toHaveLength(before + 1)
})

test('are all approved templates of the sandbox', async () => {
  const { items } = await account.trpc.template.list.query({ limit: 100 })
  const sendable = items.filter((template) => template.sendable)
  expect(sendable.map(({ name, language }) => `${name} ${language}`).toSorted()).toEqual(
    sendableDemoTemplates.map(({ name, language }) => `${name} ${language}`).toSorted(),
  )
})
