import { failWith, unknownObject, unknownPath } from './errors.ts'
import { handleMedia, uploadMedia } from './media/media.ts'
import { sendMessage } from './messages/messages.ts'
import { failOnboarding } from './onboarding/onboarding-errors.ts'
import {
  deregisterNumber,
  getBusinessAccount,
  handleAppSubscriptions,
  handleSubscribedApps,
  issueToken,
  listBusinesses,
  listOwnedAccounts,
  registerNumber,
} from './onboarding/onboarding.ts'
import { getPhoneNumber, listPhoneNumbers } from './onboarding/phone-numbers.ts'
import type { SimulatedNumber, SimulatorState } from './state.ts'
import { createTemplate, deleteTemplates, editTemplate } from './templates/template-changes.ts'
import { readSample, receiveUpload, startUpload } from './media/uploads.ts'
import { getTemplate, listTemplates } from './templates/templates.ts'
import { bearerOf, debugToken, findHolder, type TokenHolder } from './onboarding/tokens.ts'
import type { Answer } from './answer.ts'
import type { ReceivedRequest, RoutedRequest } from './request.ts'

/** `origin` is the simulator's address, because `paging.next` is an absolute URL. */
export async function route(state: SimulatorState, request: ReceivedRequest, origin: string): Promise<Answer> {
  if (request.path === '/debug_token') return debugToken(state, request)
  if (request.path === '/oauth/access_token') return issueToken(state, request)
  if (request.path.startsWith('/samples/')) return readSample(state, request.path)
  const [, id = '', edge, ...rest] = request.path.split('/')
  if (edge === 'subscriptions') {
    const answer = await handleAppSubscriptions(state, id, request)
    if (answer) return answer
  }
  const holder = findHolder(state, bearerOf(request))
  if ('kind' in holder) return holder
  if (request.path.startsWith('/upload:')) return receiveUpload(state, request, origin)
  if (edge === 'uploads')
    return id === holder.token.appId && request.method === 'POST'
      ? startUpload(state, request)
      : unknownObject(request.method, id)
  if (request.path === '/me/businesses')
    return findRefusal(holder, 'GET businesses', 'business_management') ?? listBusinesses(holder.wabaIds)
  if (!/^\d+$/.test(id) || rest.length > 0) return unknownPath(request.path)
  const routed = { ...request, id, edge }
  return (await routeObject(state, holder, routed, origin)) ?? unknownObject(request.method, id)
}

async function routeObject(
  state: SimulatorState,
  holder: TokenHolder,
  request: RoutedRequest,
  origin: string,
): Promise<Answer | undefined> {
  if (request.edge === undefined)
    return handleMedia(state, holder, request, origin) ?? routeNode(state, holder, request)
  if (request.edge === 'owned_whatsapp_business_accounts' || request.edge === 'client_whatsapp_business_accounts')
    return listOwnedAccounts(state, request.edge.startsWith('owned') ? holder.wabaIds : [], request.id)
  const number = holder.numbers.find(({ phoneNumberId }) => phoneNumberId === request.id)
  if (number) return routeNumberEdge(state, holder, number, request)
  return holder.wabaIds.includes(request.id) ? routeWabaEdge(state, holder, request, origin) : undefined
}

function routeNode(state: SimulatorState, holder: TokenHolder, request: RoutedRequest) {
  const { method, id, query } = request
  if (method === 'POST') {
    const found = findTemplate(state, holder, id)
    return found && (findRefusal(holder, 'POST template') ?? editTemplate(state, found, request))
  }
  if (method !== 'GET') return undefined
  const number = holder.numbers.find(({ phoneNumberId }) => phoneNumberId === id)
  if (number) return getPhoneNumber(number, query)
  if (holder.wabaIds.includes(id)) return findRefusal(holder, 'GET WABA') ?? getBusinessAccount(state, id, query)
  const lists = holder.wabaIds.flatMap((wabaId) => state.templates.get(wabaId) ?? [])
  return getTemplate(lists, id, query)
}

function findTemplate(state: SimulatorState, { wabaIds }: TokenHolder, id: string) {
  for (const wabaId of wabaIds) {
    const list = state.templates.get(wabaId)
    const template = list?.all().find((one) => one.id === id)
    if (list && template) return { wabaId, list, template }
  }
  return undefined
}

function routeNumberEdge(
  state: SimulatorState,
  holder: TokenHolder,
  number: SimulatedNumber,
  request: RoutedRequest,
): Answer | undefined {
  const call = `${request.method} ${request.edge}`
  switch (call) {
    case 'POST messages':
      if (!holder.token.scopes.includes('whatsapp_business_messaging')) return failOnboarding(10)
      return number.status === 'CONNECTED' ? sendMessage(state, number, request.body) : failWith(133010)
    case 'POST media':
      if (!holder.token.scopes.includes('whatsapp_business_messaging')) return failOnboarding(10)
      return uploadMedia(state, number, request.body)
    case 'POST register':
      return findRefusal(holder, call) ?? registerNumber(number, request)
    case 'POST deregister':
      return findRefusal(holder, call) ?? deregisterNumber(number)
    default:
      return undefined
  }
}

async function routeWabaEdge(
  state: SimulatorState,
  holder: TokenHolder,
  request: RoutedRequest,
  origin: string,
): Promise<Answer | undefined> {
  const { method, id, edge = '', query, version } = request
  const call = `${method} ${edge}`
  const refusal = findRefusal(holder, call)
  if (refusal) return refusal
  if (edge === 'subscribed_apps') return handleSubscribedApps(state, holder, id, request)
  switch (call) {
    case 'GET message_templates':
      return listTemplates(state, id, query, [origin, version, id, edge].filter(Boolean).join('/'))
    case 'POST message_templates': {
      const list = state.templates.get(id)
      return list && createTemplate(state, id, list, request)
    }
    case 'DELETE message_templates': {
      const list = state.templates.get(id)
      return list && deleteTemplates(state, id, list, query)
    }
    case 'GET phone_numbers':
      return listPhoneNumbers(state, id, query)
    default:
      return undefined
  }
}

/** Returns an error if the token lacks the permission, or refuses the call. */
function findRefusal(
  { token }: TokenHolder,
  call: string,
  permission = 'whatsapp_business_management',
): Answer | undefined {
  const code = token.refuses?.[call]
  if (code !== undefined) return failOnboarding(code)
  return token.scopes.includes(permission) ? undefined : failOnboarding(200)
}
