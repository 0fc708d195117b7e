import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import newman from 'newman'

// What a person does in Postman: takes a request of the collection, changes some values, and sends it.
const collection = JSON.parse(await readFile('collection.json', 'utf8'))

async function run(path, { key = 'WAYBILL_API_KEY', change = () => {} } = {}) {
  const item = structuredClone(findItem(collection.item, path))
  change(item.request)
  const envVar = [
    { key: 'baseUrl', value: process.env.WAYBILL_URL },
    { key: 'apiKey', value: process.env[key] },
  ]
  const { run } = await promisify(newman.run)({ collection: { ...collection, item: [item], variable: [] }, envVar })
  const [{ response }] = run.executions
  const { data, error } = response.json()
  return { status: response.code, data, code: error?.code, retryAfter: response.headers.get('Retry-After') }
}

function findItem(items, path) {
  for (const item of items) {
    const found = item.item ? findItem(item.item, path) : isAt(item.request, path) ? item : undefined
    if (found) return found
  }
}

function isAt({ method, url }, path) {
  return `${method} ${url.path.join('/')}` === path
}

async function send(changes, key) {
  return run('POST api/v1/message/send', {
    key,
    change: (request) => {
      if (!changes && !key) return
      request.header = request.header.filter((header) => header.key !== 'Idempotency-Key')
      request.body.raw = JSON.stringify({ ...JSON.parse(request.body.raw), ...changes })
    },
  })
}

async function listAll(path, name) {
  const ids = []
  let cursor
  do {
    const { data } = await run(path, {
      change: ({ url }) => {
        url.query = [{ key: 'limit', value: '2' }, ...(cursor ? [{ key: 'cursor', value: cursor }] : [])]
      },
    })
    ids.push(...data.items.map((item) => item[name]))
    cursor = data.nextCursor
  } while (cursor)
  return ids
}

// The example of the document, unchanged.
const sent = await send()
const repeated = await send()
const unknownTemplate = await send({ template: 'no_such_template' })
const invalid = await send({ to: '+34600111222' })
let limited
for (let count = 0; count < 3 && limited?.code === undefined; count++)
  limited = await send({}, 'WAYBILL_LIMITED_API_KEY')

const uploaded = await run('POST api/v1/media/upload', {
  change: ({ body }) => {
    body.formdata = [
      { key: 'file', type: 'file', src: process.env.WAYBILL_FILE },
      { key: 'filename', type: 'text', value: 'Invoice 7.pdf' },
    ]
  },
})

console.log(
  JSON.stringify({
    sent: sent.data.messageId,
    repeated: repeated.data.messageId,
    unknownTemplate: { status: unknownTemplate.status, code: unknownTemplate.code },
    invalid: { status: invalid.status, code: invalid.code },
    limited: { status: limited.status, code: limited.code, retryAfter: Number(limited.retryAfter) },
    messages: await listAll('GET api/v1/message', 'messageId'),
    events: await listAll('GET api/v1/event', 'eventId'),
    uploaded: uploaded.data.mediaId,
  }),
)
