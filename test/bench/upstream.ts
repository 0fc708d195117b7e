/**
 * Process: a stand-in for the Graph API at minimum cost. It accepts every send, immediately or after the milliseconds
 * given as argument, and lists one template. A second argument delays its answers to reads.
 */
import { example, templateComponents } from './example.ts'
import { createSocketServer, listen } from './socket-server.ts'

const [sendMilliseconds = 0, readMilliseconds = 0] = process.argv.slice(2).map(Number)
let count = 0

const server = createSocketServer(({ method, path }, respond) => {
  const isRead = method === 'GET'
  const answer = () => JSON.stringify(isRead ? read(path) : acceptance())
  const milliseconds = isRead ? readMilliseconds : sendMilliseconds
  if (milliseconds === 0) respond(answer())
  else setTimeout(() => respond(answer()), milliseconds)
})

function read(path: string): object {
  if (path.includes('message_templates')) return templates
  if (path.includes('debug_token')) return token
  return path.includes('subscribed_apps')
    ? { data: [{ whatsapp_business_api_data: { id: token.data.app_id } }] }
    : phoneNumber
}

function acceptance(): object {
  return {
    messaging_product: 'whatsapp',
    contacts: [{ input: '+34600111222', wa_id: '34600111222' }],
    messages: [{ id: `wamid.HBgLMzQ2MDAxMTEyMjIVAgARGBI${++count}`, message_status: 'accepted' }],
  }
}

const templates = {
  data: [
    {
      id: '1',
      name: example.template,
      language: example.language,
      status: 'APPROVED',
      category: 'UTILITY',
      parameter_format: 'POSITIONAL',
      components: templateComponents,
    },
  ],
  paging: {},
}

const token = {
  data: {
    app_id: '1',
    is_valid: true,
    expires_at: 0,
    scopes: ['whatsapp_business_messaging', 'whatsapp_business_management'],
  },
}

const phoneNumber = { id: '1', display_phone_number: '+34 600 111 222', verified_name: 'Bench' }

await listen(server)
