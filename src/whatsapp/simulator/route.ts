import { failWith, refuseToken, unknownObject, unknownPath } from './errors.ts'
import { type Answer, ok } from './http.ts'
import { sendMessage } from './messages.ts'
import { getPhoneNumber, listPhoneNumbers } from './phone-numbers.ts'
import type { ReceivedRequest, SimulatedNumber, SimulatorState } from './state.ts'
import { getTemplate, listTemplates } from './templates.ts'

/** `origin` is the simulator's address, because `paging.next` is an absolute URL. */
export function route(state: SimulatorState, request: ReceivedRequest, origin: string): Answer {
  const mine = [...state.numbers.values()].filter(({ accessToken }) => accessToken === bearerOf(request))
  if (mine.length === 0) return refuseToken()
  const [, id = '', edge, ...rest] = request.path.split('/')
  if (!/^\d+$/.test(id) || rest.length > 0) return unknownPath(request.path)
  return (
    (edge === undefined
      ? routeNode(state, mine, id, request)
      : (routeNumberEdge(state, mine, id, edge, request) ?? routeWabaEdge(state, mine, id, edge, request, origin))) ??
    unknownObject(request.method, id)
  )
}

function bearerOf({ headers, query }: ReceivedRequest): string | null {
  const { authorization } = headers
  return typeof authorization === 'string' ? authorization.replace(/^(Bearer|OAuth) /i, '') : query.get('access_token')
}

function routeNode(
  state: SimulatorState,
  mine: SimulatedNumber[],
  id: string,
  request: ReceivedRequest,
): Answer | undefined {
  if (request.method !== 'GET') return undefined
  const number = mine.find(({ phoneNumberId }) => phoneNumberId === id)
  if (number) return getPhoneNumber(number, request.query)
  const lists = mine.flatMap(({ wabaId }) => state.templates.get(wabaId) ?? [])
  return getTemplate(lists, id, request.query)
}

function routeNumberEdge(
  state: SimulatorState,
  mine: SimulatedNumber[],
  id: string,
  edge: string,
  { method, body }: ReceivedRequest,
): Answer | undefined {
  const number = mine.find(({ phoneNumberId }) => phoneNumberId === id)
  if (!number || edge !== 'messages' || method !== 'POST') return undefined
  return number.status === 'CONNECTED' ? sendMessage(state, number, body) : failWith(133010)
}

function routeWabaEdge(
  state: SimulatorState,
  mine: SimulatedNumber[],
  id: string,
  edge: string,
  { method, query, version }: ReceivedRequest,
  origin: string,
): Answer | undefined {
  if (!mine.some(({ wabaId }) => wabaId === id)) return undefined
  switch (`${method} ${edge}`) {
    case 'GET message_templates':
      return listTemplates(state, id, query, [origin, version, id, edge].filter(Boolean).join('/'))
    case 'GET phone_numbers':
      return listPhoneNumbers(state, id, query)
    case 'POST subscribed_apps':
      state.subscribed.add(id)
      return ok({ success: true })
    default:
      return undefined
  }
}
