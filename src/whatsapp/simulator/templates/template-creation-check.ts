import type { StoredComponent } from '../../../platform/db/schema.ts'
import { failPlainly } from '../errors.ts'
import { placeholdersOf } from '../messages/send-components.ts'
import type { SimulatedResponse } from '../exchange.ts'

/**
 * Meta's checks of a new template, with its codes and titles (reference 2, sections 3.1 and 3.2). They were written from
 * the reference independently of our own rules, so that tests compare two sources.
 */
export function checkNewTemplate(category: string, components: StoredComponent[]): SimulatedResponse | undefined {
  for (const [index, component] of components.entries()) {
    const path = `components[${index}]`
    const problem = category === 'AUTHENTICATION' ? checkCodePart(component) : checkPart(component, path)
    if (problem) return problem
  }
  const types = new Set(components.map(({ type }) => type))
  const isSingleProduct = components.some(({ buttons = [] }) => buttons.some(({ type }) => type === 'SPM'))
  const body = components.find(({ type }) => type === 'BODY')?.text ?? ''
  if (isSingleProduct && [...body].length > 160)
    return invalid(2388040, 'Character Limit Exceeded', 'The BODY is limited to 160 characters.')
  if (!types.has('BODY')) return invalid(2388043, 'components', 'component of type BODY is missing')
  const isWrongOffer = types.has('LIMITED_TIME_OFFER') && (category !== 'MARKETING' || types.has('FOOTER'))
  return isWrongOffer
    ? invalid(undefined, 'Limited-time offer is not valid', 'It must be of category MARKETING and have no footer.')
    : undefined
}

/** Reference, section 3.3. */
const languages = new Set(
  `af sq ar ar_EG ar_AE ar_LB ar_MA ar_QA az be_BY bn bn_IN bg ca zh_CN zh_HK zh_TW hr cs da prs_AF nl nl_BE en en_GB
  en_US en_AE en_AU en_CA en_GH en_IE en_IN en_JM en_MY en_NZ en_QA en_SG en_UG en_ZA et fil fi fr fr_BE fr_CA fr_CH
  fr_CI fr_MA ka de de_AT de_CH el gu ha he hi hu id ga it ja kn kk rw_RW ko ky_KG lo lv lt mk ms ml mr nb ps_AF fa pl
  pt_BR pt_PT pa ro ru sr si_LK sk sl es es_AR es_CL es_CO es_CR es_DO es_EC es_HN es_MX es_PA es_PE es_ES es_UY sw sv
  ta te th tr uk ur uz vi zu`.split(/\s+/),
)

export function checkLanguage(language: string): SimulatedResponse | undefined {
  return languages.has(language)
    ? undefined
    : invalid(undefined, 'Language is not supported', 'Param language must be one of the supported languages.')
}

export function checkName(name: string): SimulatedResponse | undefined {
  return /^[a-z0-9_]{1,512}$/.test(name)
    ? undefined
    : invalid(
        2388046,
        'Name Format is Incorrect',
        'The message template name can only have lowercase letters and underscores.',
        { blame_field_specs: [['name']] },
      )
}

export function invalid(subcode: number | undefined, title: string, message: string, data?: object): SimulatedResponse {
  return failPlainly(400, {
    message: 'Invalid parameter',
    type: 'OAuthException',
    code: 100,
    ...(data && { error_data: data }),
    ...(subcode !== undefined && { error_subcode: subcode }),
    is_transient: false,
    error_user_title: title,
    error_user_msg: message,
  })
}

function checkCodePart({ type, text, buttons, ...rest }: StoredComponent): SimulatedResponse | undefined {
  if (type === 'HEADER') return unexpected(type, 'type')
  const { code_expiration_minutes: minutes = 1 } = rest
  if (type === 'FOOTER' && !(Number(minutes) >= 1 && Number(minutes) <= 90))
    return invalid(undefined, 'Invalid parameter', 'code_expiration_minutes must be from 1 to 90.')
  if (text !== undefined) return unexpected(type, 'text')
  const [button] = buttons ?? []
  if (type !== 'BUTTONS') return undefined
  if (button?.type !== 'OTP') return missing(type, 'otp_type')
  if (isBadLabel(button.text) || isBadLabel(button['autofill_text'])) return badLabel()
  if (button['otp_type'] !== 'COPY_CODE' && !Array.isArray(button['supported_apps']))
    return missing(type, 'supported_apps')
  if (button['otp_type'] === 'ZERO_TAP' && button['zero_tap_terms_accepted'] !== true)
    return missing(type, 'zero_tap_terms_accepted')
  return undefined
}

const maxLengths: Partial<Record<string, number>> = { HEADER: 60, BODY: 1024, FOOTER: 60 }

/** `path` is where the component is in the request, such as `components[2]`. */
function checkPart(component: StoredComponent, path: string): SimulatedResponse | undefined {
  const { type, text = '' } = component
  const maxLength = maxLengths[type]
  if (maxLength !== undefined && [...text].length > maxLength)
    return invalid(2388040, 'Character Limit Exceeded', `The ${type} is limited to ${maxLength} characters.`)
  switch (type) {
    case 'HEADER':
      return checkHeader(component)
    case 'BODY':
      return checkBody(component)
    case 'FOOTER':
      return /\{\{|\n|\p{Emoji_Presentation}|[\uFE0F\u20E3]/u.test(text)
        ? invalid(
            2388073,
            'Message Template Footer Format Incorrect',
            'The footer cannot have variables, new lines or emojis.',
          )
        : undefined
    case 'BUTTONS':
      return checkButtons(component.buttons ?? [], path)
    case 'CAROUSEL':
      return checkCards(component.cards ?? [], path)
    case 'LIMITED_TIME_OFFER':
      return undefined
    default:
      return unexpected(type, 'type')
  }
}

function checkHeader({ format = 'TEXT', text = '', example }: StoredComponent): SimulatedResponse | undefined {
  if (format === 'LOCATION' || format === 'PRODUCT') return undefined
  if (format !== 'TEXT') return hasValues(example?.['header_handle']) ? undefined : missing('HEADER', 'example')
  const variables = placeholdersOf(text)
  if (variables.length > 1 || /[*~`\n]|\p{Extended_Pictographic}/u.test(text))
    return invalid(
      2388047,
      'Message Template Header Format Incorrect',
      'The message header can only have one variable, and no new lines, emojis or asterisks.',
    )
  const given = hasValues(example?.['header_text']) || hasValues(example?.['header_text_named_params'])
  return variables.length > 0 && !given ? missing('HEADER', 'example') : undefined
}

function checkBody({ text, example }: StoredComponent): SimulatedResponse | undefined {
  if (text === undefined || text.trim() === '') return missing('BODY', 'text')
  const variables = placeholdersOf(text)
  if (/^\s*\{\{|\}\}\s*$/.test(text))
    return invalid(
      2388299,
      'Leading or trailing params not allowed',
      "Variables can't be at the start or end of the template.",
    )
  const numbers = variables.filter((name) => /^\d+$/.test(name)).map(Number)
  const isSequence = numbers.every((_, index) => numbers.includes(index + 1))
  if (!isSequence || (numbers.length > 0 && numbers.length < variables.length))
    return invalid(2388072, 'Message Template Body Format Incorrect', 'The variables are not in sequence.')
  const values = example?.body_text?.[0] ?? example?.body_text_named_params ?? []
  if (values.length < variables.length) return missing('BODY', 'example')
  // Meta does not publish its formula. All reported rejections have fewer than two words per variable; this check is
  // more lenient.
  const words = text.replaceAll(/\{\{[^}]*\}\}/g, ' ').match(/[\p{L}\p{N}]+/gu)?.length ?? 0
  return variables.length > 0 && words < variables.length
    ? invalid(
        2388293,
        'Parameters words ratio exceeds limit',
        'This template has too many variables for its length. Reduce the number of variables or increase the message length.',
      )
    : undefined
}

type Buttons = NonNullable<StoredComponent['buttons']>

/** Reference 2, section 3.1: at least one of the fields, of each list. */
const requiredInButton: Partial<Record<string, string[][]>> = {
  QUICK_REPLY: [['text']],
  URL: [['text'], ['url']],
  PHONE_NUMBER: [['text'], ['phone_number']],
  COPY_CODE: [['example']],
  FLOW: [['text'], ['flow_id', 'flow_name', 'flow_json']],
  VOICE_CALL: [['text']],
}

/** Reference 2, section 1.6. */
const maxOfType: Partial<Record<string, number>> = {
  URL: 2,
  PHONE_NUMBER: 1,
  COPY_CODE: 1,
  VOICE_CALL: 1,
  CATALOG: 1,
  MPM: 1,
  SPM: 1,
}

function isBadLabel(text: unknown): boolean {
  return typeof text === 'string' && /[*~`\n\r\t]|\{\{|(?![©®™])\p{Extended_Pictographic}/u.test(text)
}

/** Meta's words (glific, issue 4383). */
function badLabel(): SimulatedResponse {
  return invalid(
    undefined,
    'Invalid parameter',
    "Buttons can't have any variables, newlines, emojis, or formatting characters.",
  )
}

function checkButtons(buttons: Buttons, path: string): SimulatedResponse | undefined {
  if (buttons.length > 10) return invalid(undefined, 'Too many buttons', 'A template can have at most 10 buttons.')
  for (const [index, button] of buttons.entries()) {
    const { type, text = '', url = '' } = button
    const absent = requiredInButton[type]?.find((fields) => fields.every((field) => !hasValues(button[field])))
    if (absent) return missing('BUTTONS', absent.join(' or '))
    if (isBadLabel(button.text)) return badLabel()
    if ([...text].length > 25)
      return invalid(2388040, 'Character Limit Exceeded', 'The button text is limited to 25 characters.')
    if (type === 'URL' && /\{\{/.test(url) && !hasValues(button['example'])) return missing('BUTTONS', 'example')
    if (type === 'PHONE_NUMBER' && !/^\+?\d{7,19}$/.test(String(button['phone_number'])))
      return failPlainly(400, {
        message: `(#192) Param ${path}['buttons'][${index}]['phone_number'] is not a valid phone number.`,
        type: 'OAuthException',
        code: 192,
      })
  }
  for (const [type, max = buttons.length] of Object.entries(maxOfType))
    if (buttons.filter((button) => button.type === type).length > max)
      return invalid(undefined, 'Too many buttons', `A template can have at most ${max} buttons of type ${type}.`)
  const replies = buttons.map(({ type }) => (type === 'QUICK_REPLY' ? 'Q' : 'U')).join('')
  return /UQ+U|QU+Q/.test(replies)
    ? invalid(undefined, 'Button order is incorrect', 'Quick replies must be grouped together.')
    : undefined
}

function checkCards(cards: NonNullable<StoredComponent['cards']>, path: string): SimulatedResponse | undefined {
  if (cards.length < 2 || cards.length > 10)
    return invalid(undefined, 'Number of cards is incorrect', 'A carousel has 2 to 10 cards.')
  if (new Set(cards.map(describeParts)).size > 1)
    return invalid(undefined, 'Cards are different', 'All cards must have the same components.')
  for (const [card, { components }] of cards.entries())
    for (const [index, component] of components.entries()) {
      const problem = checkPart(component, `${path}['cards'][${card}]['components'][${index}]`)
      if (problem) return problem
    }
  return undefined
}

function describeParts({ components }: NonNullable<StoredComponent['cards']>[number]): string {
  const parts = components.map(({ type, format, buttons }) => [type, format, buttons?.map((button) => button.type)])
  return JSON.stringify(parts)
}

function hasValues(value: unknown): boolean {
  return typeof value === 'string' ? value !== '' : Array.isArray(value) && value.length > 0
}

function unexpected(type: string, field: string): SimulatedResponse {
  return invalid(
    2388042,
    'Message template "components" param contains unexpected field(s)',
    `component of type ${type} has unexpected field(s) (${field})`,
  )
}

function missing(type: string, field: string): SimulatedResponse {
  return invalid(
    2388043,
    'Message template "components" param is missing expected field(s)',
    `component of type ${type} is missing expected field(s) (${field})`,
  )
}
