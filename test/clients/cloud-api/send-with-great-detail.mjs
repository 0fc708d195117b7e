import Client from '@great-detail/whatsapp'

const { GRAPH_API_URL, ACCESS_TOKEN, PHONE_NUMBER_ID, WABA_ID } = process.env
const client = new Client({
  baseUrl: GRAPH_API_URL,
  graphVersion: 'v25.0',
  request: { headers: { Authorization: `Bearer ${ACCESS_TOKEN}` } },
})

/** @param {string} name @param {...object} components */
async function send(name, ...components) {
  const template = { name, language: { code: 'en' }, components }
  const answer = await client.message
    .createMessage({ phoneNumberID: PHONE_NUMBER_ID, to: '+34600111222', type: 'template', template })
    .json()
  return answer.messages[0].id
}

const text = (value) => ({ type: 'text', text: value })
const sent = [
  await send('order_shipped', { type: 'body', parameters: [text('Ada'), text('A-1024')] }),
  await send(
    'track_parcel',
    { type: 'body', parameters: [text('Ada')] },
    { type: 'button', sub_type: 'url', index: 0, parameters: [text('A-1024')] },
  ),
]
const refused = await send('no_such_template').catch((error) => error.data.error.code)
const found = await client.template.list(WABA_ID, { name_or_content: 'parcel' }).json()
const unusable = await client.template.list(WABA_ID, { status: ['PAUSED', 'PENDING'] }).json()
const account = await client.whatsappBusinessAccount.get(WABA_ID, { fields: ['id', 'name'] }).json()
const subscribed = await client.subscribedApps.listSubscriptions({ businessAccountID: WABA_ID }).json()
console.log(
  JSON.stringify({
    sent,
    refused,
    found: found.data.map(({ name }) => name),
    unusable: unusable.data.length,
    account: account.name,
    apps: subscribed.data.map(({ whatsapp_business_api_data: { id } }) => id),
  }),
)
