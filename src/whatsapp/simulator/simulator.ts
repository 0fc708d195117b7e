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
  /** 0 takes a free one. */
  port?: number
  host?: string
  /** Token of the demo number. */
  accessToken?: string
  /** Called for every accepted message, before the answer is written. */
  onAccepted?: (message: AcceptedMessage) => void
}

type NumberToAdd = Pick<SimulatedNumber, 'phoneNumberId' | 'wabaId' | 'accessToken'> & Partial<SimulatedNumber>

/** Answers instead of the simulator; `undefined` leaves the request to it. */
export type Interceptor = (request: ReceivedRequest) => Answer | undefined

/** A stand-in for the Graph API on a real port: behaves as the reference says, and misbehaves on request. */
export interface Simulator {
  /** Base address, without version. */
  url: string
  /** The demo number, its WhatsApp Business Account, and the token that both take. */
  phoneNumberId: string
  wabaId: string
  accessToken: string
  /** Templates of the demo account; changes count at once. */
  templates: TemplateList
  /** Templates of another account. */
  templatesOf(wabaId: string): TemplateList
  /** The latest thousand requests, oldest first. */
  requests: ReceivedRequest[]
  addPhoneNumber(number: NumberToAdd): SimulatedNumber
  /** Lets a test answer in the simulator's place. The latest interceptor counts; `undefined` ends it. */
  intercept(interceptor: Interceptor | undefined): void
  /** Posts statuses there from now on; `undefined` ends it. */
  reportTo(target: CallbackTarget | undefined): void
  /** Closes every connection, also those that wait for an answer. */
  stop(): Promise<void>
}

export const demo = {
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
