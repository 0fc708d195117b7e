import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { demoTemplates } from './demo-templates.ts'
import { type Answer, receive, respond } from './http.ts'
import { type CallbackTarget, StatusReporter } from './reporter.ts'
import { route } from './route.ts'
import type { AcceptedMessage, ReceivedRequest, SimulatedNumber, SimulatorState } from './state.ts'
import { createTemplateList, type TemplateList } from './templates.ts'

export interface SimulatorOptions {
  /** 0 selects a free port. */
  port?: number
  host?: string
  /** Access token of the demo number. */
  accessToken?: string
  /** Called for every accepted message, before the response is sent. */
  onAccepted?: (message: AcceptedMessage) => void
}

type NumberToAdd = Pick<SimulatedNumber, 'phoneNumberId' | 'wabaId' | 'accessToken'> & Partial<SimulatedNumber>

/** Returns a response in place of the simulator's, or undefined to let the simulator respond. */
type Interceptor = (request: ReceivedRequest) => Answer | undefined

/** A simulator of the Graph API on a local port. It behaves as documented and can simulate failures. */
export interface Simulator {
  /** Base URL, without the version. */
  url: string
  /** The demo number, its WhatsApp Business Account and their access token. */
  phoneNumberId: string
  wabaId: string
  accessToken: string
  /** Templates of the demo account. Changes take effect immediately. */
  templates: TemplateList
  /** Templates of another account. */
  templatesOf(wabaId: string): TemplateList
  /** The latest 1,000 requests, oldest first. */
  requests: ReceivedRequest[]
  addPhoneNumber(number: NumberToAdd): SimulatedNumber
  /** Sets the interceptor, which replaces an earlier one; undefined removes it. */
  intercept(interceptor: Interceptor | undefined): void
  /** Sets the target of status callbacks; undefined removes it. */
  reportTo(target: CallbackTarget | undefined): void
  /** Closes all connections, including those that wait for a response. */
  stop(): Promise<void>
}

const demo = {
  phoneNumberId: '100000000000001',
  wabaId: '200000000000001',
  accessToken: 'simulated-access-token',
  displayPhoneNumber: '+1 555-010-0000',
  verifiedName: 'Waybill Demo Shop',
} as const

const maxRequests = 1000

export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const reporter = new StatusReporter()
  const state: SimulatorState = {
    numbers: new Map(),
    templates: new Map(),
    subscribed: new Set(),
    randomBytes,
    onAccepted: (message) => {
      options.onAccepted?.(message)
      reporter.follow(message, message.plan)
    },
  }
  const nextTemplateId = countFrom(1_000_000_000_000_001)
  const requests: ReceivedRequest[] = []
  let interceptor: Interceptor | undefined
  let url = ''

  const server = createServer((request, response) => {
    receive(request)
      .then((received) => {
        if (requests.push(received) > maxRequests) requests.shift()
        respond(response, interceptor?.(received) ?? route(state, received, url))
      })
      .catch(() => response.destroy())
  })
  url = await listen(server, options)

  function templatesOf(wabaId: string): TemplateList {
    const list = state.templates.get(wabaId) ?? createTemplateList(nextTemplateId)
    state.templates.set(wabaId, list)
    return list
  }

  function addPhoneNumber(number: NumberToAdd): SimulatedNumber {
    const added = { ...defaultNumber, ...number }
    state.numbers.set(added.phoneNumberId, added)
    templatesOf(added.wabaId)
    return added
  }

  const { phoneNumberId, wabaId, accessToken } = addPhoneNumber({
    ...demo,
    ...(options.accessToken === undefined ? {} : { accessToken: options.accessToken }),
  })
  for (const template of demoTemplates) templatesOf(wabaId).add(template)

  return {
    url,
    phoneNumberId,
    wabaId,
    accessToken,
    templates: templatesOf(wabaId),
    templatesOf,
    requests,
    addPhoneNumber,
    intercept: (next) => {
      interceptor = next
    },
    reportTo: (target) => reporter.reportTo(target),
    stop: () => {
      reporter.stop()
      return close(server)
    },
  }
}

const defaultNumber = {
  displayPhoneNumber: '+1 555-010-0001',
  verifiedName: 'Simulated Business',
  callingCode: '1',
  status: 'CONNECTED',
  qualityRating: 'GREEN',
}

async function listen(server: Server, { port = 0, host = '127.0.0.1' }: SimulatorOptions): Promise<string> {
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The simulator has no TCP address')
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

function countFrom(first: number): () => string {
  let next = first
  return () => String(next++)
}
