import { createWhatsAppAdapter } from '@chat-adapter/whatsapp'

const { GRAPH_API_URL, ACCESS_TOKEN, PHONE_NUMBER_ID } = process.env
const adapter = createWhatsAppAdapter({
  apiUrl: GRAPH_API_URL,
  accessToken: ACCESS_TOKEN,
  phoneNumberId: PHONE_NUMBER_ID,
  appSecret: 'secret',
  verifyToken: 'token',
})
const threadId = adapter.encodeThreadId({ phoneNumberId: PHONE_NUMBER_ID, userWaId: '+34600111222' })

/** @param {string} name @param {...string} values */
async function send(name, ...values) {
  const parameters = values.map((text) => ({ type: 'text', text }))
  const components = [{ type: 'body', parameters }]
  return (await adapter.sendTemplate(threadId, { name, language: 'en', components })).id
}

const sent = [await send('order_shipped', 'Ada', 'A-1024')]
const refused = await send('no_such_template', 'Ada').catch((error) => error.errorCode)
console.log(JSON.stringify({ sent, refused }))
