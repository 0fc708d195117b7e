import { z } from 'zod'
import { codeTexts } from '../../../../contracts/templates/code-texts.ts'
import type { StoredComponent } from '../../../platform/db/schema.ts'
import { failPlainly } from '../errors.ts'
import { ok, type ReceivedRequest, type SimulatedResponse } from '../exchange.ts'
import type { SimulatorState } from '../state.ts'
import { checkLanguage, checkName, checkNewTemplate, invalid } from './template-creation-check.ts'
import type { GraphTemplate, TemplateList } from './template-list.ts'

type Body = Record<string, unknown>

const categories = new Set(['AUTHENTICATION', 'MARKETING', 'UTILITY'])

/** `POST /<WABA ID>/message_templates`: reference 2, section 3.1. */
export function createTemplate(
  state: SimulatorState,
  wabaId: string,
  list: TemplateList,
  request: ReceivedRequest,
): SimulatedResponse {
  const body = toBody(request)
  const name = textOf(body, 'name')
  const language = textOf(body, 'language')
  const wanted = textOf(body, 'category').toUpperCase()
  const components = toComponents(body)
  if (!categories.has(wanted)) return invalid(undefined, 'Invalid category', 'The category does not exist.')
  const namesake = list.all().find((template) => template.name === name)
  const taken = list.all().some((template) => template.name === name && template.language === language)
  const problem =
    checkName(name) ??
    checkLanguage(language) ??
    (state.deletedTemplates.has(`${wabaId}\n${name}\n${language}`)
      ? invalid(
          2388023,
          'Message template language is being deleted',
          `New ${language} content can't be added while the existing ${language} content is being deleted. Try again in 4 weeks or consider creating a new message template.`,
        )
      : undefined) ??
    (taken
      ? invalid(
          2388024,
          'Content in This Language Already Exists',
          `There is already ${language} content for this template. You can create a new template and try again.`,
        )
      : undefined) ??
    (namesake && namesake.category !== wanted
      ? invalid(
          undefined,
          'Category mismatch',
          `The category ${wanted} doesn't match the one that's already associated with this template, ${namesake.category}.`,
        )
      : undefined) ??
    checkNewTemplate(wanted, components) ??
    checkHandles(state, components)
  if (problem) return problem
  const category = name.endsWith('_promotional') && wanted === 'UTILITY' ? 'MARKETING' : wanted
  const added = list.add({
    name,
    language,
    category,
    status: 'PENDING',
    parameter_format: body['parameter_format'] === 'NAMED' ? 'NAMED' : 'POSITIONAL',
    components: listComponents(state, { category, language }, components),
    quality_score: { score: 'UNKNOWN', date: Math.floor(state.now() / 1000) },
    ...readLifetime(body),
    ...listOptimizations(body),
  })
  state.reviewer.review(wabaId, list, added.id)
  return ok({ id: added.id, status: added.status, category })
}

function readLifetime(body: Body): Pick<GraphTemplate, 'message_send_ttl_seconds'> {
  const seconds = body['message_send_ttl_seconds']
  return typeof seconds === 'number' ? { message_send_ttl_seconds: seconds } : {}
}

/** Requested as an object, and listed as an array in upper case (reference 2, section 3.1). */
function listOptimizations({ degrees_of_freedom_spec: spec }: Body): Pick<GraphTemplate, 'degrees_of_freedom_spec'> {
  const parsed = Optimizations.safeParse(spec)
  if (!parsed.success) return {}
  const features = Object.entries(parsed.data.creative_features_spec)
  const creative_features_spec = features.map(([name, value]) => ({ key: name.toUpperCase(), value }))
  return { degrees_of_freedom_spec: { creative_features_spec } }
}

const Optimizations = z.object({
  creative_features_spec: z.record(z.string(), z.object({ enroll_status: z.enum(['OPT_IN', 'OPT_OUT']) })),
})

const editable = new Set(['APPROVED', 'REJECTED', 'PAUSED'])

/** `POST /<template ID>`: reference 2, section 3.3. */
export function editTemplate(
  state: SimulatorState,
  { wabaId, list, template }: { wabaId: string; list: TemplateList; template: GraphTemplate },
  request: ReceivedRequest,
): SimulatedResponse {
  const body = toBody(request)
  const components = toComponents(body)
  const category = textOf(body, 'category').toUpperCase() || template.category
  if (!editable.has(template.status))
    return invalid(2388039, "Message template status can't be changed", 'The template is in review.')
  if (template.status === 'APPROVED' && category !== template.category)
    return invalid(undefined, 'Category cannot be changed', 'The category of an approved template cannot be changed.')
  const problem = checkNewTemplate(category, components) ?? checkHandles(state, components)
  if (problem) return problem
  const listed = listComponents(state, { ...template, category }, components)
  list.set(template.name, template.language, {
    category,
    components: listed,
    status: 'PENDING',
    rejected_reason: 'NONE',
    ...readLifetime(body),
  })
  state.reviewer.review(wabaId, list, template.id)
  return ok({ success: true })
}

/** `DELETE /<WABA ID>/message_templates?name&hsm_id`: reference 2, section 3.3. */
export function deleteTemplates(
  state: SimulatorState,
  wabaId: string,
  list: TemplateList,
  query: URLSearchParams,
): SimulatedResponse {
  const name = query.get('name')
  const id = query.get('hsm_id')
  const found = list.all().filter((template) => template.name === name && (id === null || template.id === id))
  if (found.length === 0)
    return failPlainly(404, {
      message: 'Invalid parameter',
      type: 'OAuthException',
      code: 100,
      is_transient: false,
      error_user_title: 'Message Template Not Found',
      error_user_msg: 'The message template was not found.',
    })
  if (found.some(({ status }) => status === 'DISABLED'))
    return invalid(undefined, 'Template cannot be deleted', 'A disabled template cannot be deleted.')
  for (const { name, language, status } of found) {
    list.remove(name, language)
    // The name of an approved template is locked for 30 days.
    if (status === 'APPROVED') state.deletedTemplates.add(`${wabaId}\n${name}\n${language}`)
  }
  return ok({ success: true })
}

function toBody({ body }: ReceivedRequest): Body {
  return typeof body === 'object' && body !== null ? (body as Body) : {}
}

function textOf(body: Body, field: string): string {
  const value = body[field]
  return typeof value === 'string' ? value : ''
}

function toComponents({ components }: Body): StoredComponent[] {
  if (!Array.isArray(components)) return []
  return components.filter(
    (component: unknown): component is StoredComponent =>
      typeof component === 'object' && component !== null && 'type' in component && typeof component.type === 'string',
  )
}

function headersOf(components: StoredComponent[]): StoredComponent[] {
  return components.flatMap((component) => [
    ...(component.type === 'HEADER' ? [component] : []),
    ...(component.cards ?? []).flatMap((card) => headersOf(card.components)),
  ])
}

function handleOf({ example }: StoredComponent): string | undefined {
  const handles = example?.['header_handle']
  const [handle] = Array.isArray(handles) ? (handles as unknown[]) : []
  return typeof handle === 'string' ? handle : undefined
}

/** Only resumable uploads return handles; a link or a media ID is not accepted (reference 2, section 3.4). */
function checkHandles(state: SimulatorState, components: StoredComponent[]): SimulatedResponse | undefined {
  const unknown = headersOf(components).find((header) => {
    const handle = handleOf(header)
    return handle !== undefined && !state.samples.has(handle)
  })
  return unknown && invalid(2388047, 'Message Template Header Format Incorrect', 'The media handle is not valid.')
}

/** Returns components as WhatsApp lists them: with the URLs of samples, and with the text of a one-time code. */
function listComponents(
  state: SimulatorState,
  { category, language }: { category: string; language: string },
  components: StoredComponent[],
): StoredComponent[] {
  if (category === 'AUTHENTICATION') return listCodeComponents(language, components)
  return components.map((component) => {
    const handle = component.type === 'HEADER' ? handleOf(component) : undefined
    if (handle !== undefined)
      return { ...component, example: { header_handle: [state.samples.get(handle)?.url ?? ''] } }
    if (!component.cards) return component
    const cards = component.cards.map((card) => ({
      ...card,
      components: listComponents(state, { category, language }, card.components),
    }))
    return { ...component, cards }
  })
}

/** Returns the components of a one-time code as WhatsApp lists them (reference 2, section 2). */
function listCodeComponents(language: string, components: StoredComponent[]): StoredComponent[] {
  const { body, security, footer, copy } = codeTexts(language)
  const find = (type: string) => components.find((component) => component.type === type)
  const isSecure = find('BODY')?.['add_security_recommendation'] === true
  const minutes = find('FOOTER')?.['code_expiration_minutes']
  const sent = find('BUTTONS')?.buttons?.[0]
  const query = [
    `otp_type=${String(sent?.['otp_type'])}`,
    ...(typeof minutes === 'number' ? [`code_expiration_minutes=${minutes}`] : []),
  ].join('&')
  const url = `https://www.whatsapp.com/otp/code/?${query}&code=otp`
  return [
    {
      type: 'BODY',
      text: isSecure ? `${body} ${security}` : body,
      add_security_recommendation: isSecure,
      example: { body_text: [['123456']] },
    },
    ...(typeof minutes === 'number'
      ? [{ type: 'FOOTER', text: footer(minutes), code_expiration_minutes: minutes }]
      : []),
    {
      type: 'BUTTONS',
      buttons: [{ type: 'URL', text: sent?.text ?? copy, url: `${url}{{1}}`, example: [`${url}123456`] }],
    },
  ]
}
