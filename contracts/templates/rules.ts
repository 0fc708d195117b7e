import { formatPath } from '../errors.ts'
import { type Fact, inEnglish } from '../facts/fact.ts'
import { templateProblems as problems } from '../facts/template-problems.ts'
import {
  exampleOfVariable,
  isNumbered,
  listVariables,
  type TemplateBodyDefinition,
  type TemplateButtonDefinition,
  type TemplateButtonType,
  type TemplateCardDefinition,
  type TemplateDefinition,
  type TemplateHeaderDefinition,
  templateLanguages,
  templateLimits as limits,
} from './definition.ts'
import { isSampleFormat } from './samples.ts'

/** A problem that WhatsApp would reject, and how to fix it. */
export interface TemplateProblem {
  /** Such as `['buttons', 0, 'url']`. */
  path: readonly (string | number)[]
  /** A sentence without its subject and full stop, such as `must not be empty`. */
  problem: Fact
}

type Path = readonly (string | number)[]

/** Checks a template against WhatsApp's published rules before it is submitted. Returns an empty list if it complies. */
export function findTemplateProblems(template: TemplateDefinition): TemplateProblem[] {
  const { name, language, category, ttlSeconds, ...content } = template
  return [
    ...problemIf(!/^[a-z0-9_]+$/.test(name), ['name'], problems.name()),
    ...checkLength(name, ['name'], limits.nameCharacters),
    ...problemIf(!templateLanguages.includes(language), ['language'], problems.language()),
    ...checkTtl(category, ttlSeconds),
    ...checkCharacters(content, []),
    ...(category === 'AUTHENTICATION' ? checkAuthentication(template) : checkContent(template)),
  ]
}

/** Formats a problem as one line, such as `body.text: must not end with a variable.` */
export function describeTemplateProblem({ path, problem }: TemplateProblem): string {
  return `${formatPath(path)}: ${inEnglish(problem)}.`
}

function problemIf(condition: boolean, path: Path, problem: Fact): TemplateProblem[] {
  return condition ? [{ path, problem }] : []
}

/** Control characters other than tabs and line breaks, which rules of their own cover. PostgreSQL cannot store NUL. */
const controlCharacter = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/

/** Checks each text of the template, in every part. */
function checkCharacters(part: unknown, path: Path): TemplateProblem[] {
  if (typeof part === 'string') return problemIf(controlCharacter.test(part), path, problems.controlCharacters())
  if (Array.isArray(part)) return part.flatMap((item, index) => checkCharacters(item, [...path, index]))
  if (typeof part !== 'object' || part === null) return []
  return Object.entries(part).flatMap(([field, value]) => checkCharacters(value, [...path, field]))
}

/** Counts Unicode code points, not UTF-16 units. */
function checkLength(text: string | undefined, path: Path, limit: number): TemplateProblem[] {
  const length = [...(text ?? '')].length
  return problemIf(length > limit, path, problems.length({ limit, length }))
}

/** Allowed seconds by category (Meta, "Time-to-live"). Only the Marketing Messages API honours that of `MARKETING`. */
const ttlRanges: Record<TemplateDefinition['category'], [number, number]> = {
  AUTHENTICATION: [30, 900],
  UTILITY: [30, 43_200],
  MARKETING: [43_200, 2_592_000],
}

function checkTtl(category: TemplateDefinition['category'], seconds: number | undefined): TemplateProblem[] {
  if (seconds === undefined) return []
  const [min, max] = ttlRanges[category]
  const isWithin = seconds >= min && seconds <= max
  return problemIf(!isWithin, ['ttlSeconds'], problems.ttl({ least: min, most: max, category }))
}

/** WhatsApp provides the content of authentication templates, so these parts are not allowed. */
const notInAuthentication = ['header', 'body', 'footer', 'buttons', 'cards', 'limitedTimeOffer'] as const

function inAuthentication(field: string): Path {
  return ['authentication', field]
}

function checkAuthentication(template: TemplateDefinition): TemplateProblem[] {
  const { authentication: code } = template
  const disallowed = notInAuthentication
    .filter((part) => template[part] !== undefined)
    .flatMap((part) => problemIf(true, [part], problems.notInAuthentication()))
  if (!code)
    return [
      ...disallowed,
      {
        path: ['authentication'],
        problem: problems.requiredAuthentication(),
      },
    ]
  const { otpType, expirationMinutes: minutes, apps = [] } = code
  const isWithin = minutes === undefined || (minutes >= 1 && minutes <= limits.maxExpirationMinutes)
  return [
    ...disallowed,
    ...problemIf(
      !isWithin,
      inAuthentication('expirationMinutes'),
      problems.expiration({ most: limits.maxExpirationMinutes }),
    ),
    ...checkLabel(code.text, inAuthentication('text')),
    ...checkLabel(code.autofillText, inAuthentication('autofillText')),
    ...problemIf(
      otpType === 'COPY_CODE' && code.autofillText !== undefined,
      inAuthentication('autofillText'),
      problems.noOneTap(),
    ),
    ...problemIf(otpType === 'COPY_CODE' && apps.length > 0, inAuthentication('apps'), problems.noApp()),
    ...problemIf(
      otpType !== 'COPY_CODE' && (apps.length < 1 || apps.length > limits.apps),
      inAuthentication('apps'),
      problems.apps({ apps: limits.apps, otpType }),
    ),
    ...problemIf(
      otpType === 'ZERO_TAP' && code.zeroTapTermsAccepted !== true,
      inAuthentication('zeroTapTermsAccepted'),
      problems.zeroTapTerms(),
    ),
    ...apps.flatMap(({ packageName, signatureHash }, index) => [
      ...problemIf(
        !/^[A-Za-z]\w*(\.[A-Za-z]\w*)+$/.test(packageName) || packageName.length > 224,
        [...inAuthentication('apps'), index, 'packageName'],
        problems.androidPackage(),
      ),
      ...problemIf(
        !/^[A-Za-z0-9+/=]{11}$/.test(signatureHash),
        [...inAuthentication('apps'), index, 'signatureHash'],
        problems.signatureHash(),
      ),
    ]),
  ]
}

function checkContent(template: TemplateDefinition): TemplateProblem[] {
  const { header, body, footer, buttons = [], cards, limitedTimeOffer, authentication, category } = template
  const numbered = isNumbered(template)
  return [
    ...problemIf(authentication !== undefined, ['authentication'], problems.notInCategory({ category })),
    ...(header ? checkHeader(header, ['header'], numbered) : []),
    ...(body
      ? checkBody(body, ['body'], { numbered, maxCharacters: maxBodyOf(template) })
      : [{ path: ['body'], problem: problems.requiredInCategory({ category }) }]),
    ...(footer === undefined ? [] : checkFooter(footer)),
    ...checkButtons(buttons, ['buttons']),
    ...checkProduct(header?.format, buttons, ['buttons']),
    ...problemIf(template.buttons?.length === 0, ['buttons'], problems.emptyList()),
    ...(cards ? checkCards(cards, template, numbered) : []),
    ...(limitedTimeOffer ? checkOffer(template) : []),
  ]
}

/** Maximum length of the body, in characters. */
export function maxBodyOf({ header, limitedTimeOffer }: TemplateDefinition): number {
  if (header?.format === 'PRODUCT') return limits.productBodyCharacters
  return limitedTimeOffer ? limits.offerBodyCharacters : limits.bodyCharacters
}

/** A product header requires an SPM button and vice versa; other combinations are not documented. */
function checkProduct(
  format: TemplateHeaderDefinition['format'] | undefined,
  buttons: TemplateButtonDefinition[],
  path: Path,
): TemplateProblem[] {
  const kinds = buttons.map(({ type }) => type)
  if (format === 'PRODUCT') return problemIf(kinds.join() !== 'SPM', path, problems.oneSpm())
  return problemIf(kinds.includes('SPM'), path, problems.spmUnderProduct())
}

function checkHeader(
  { format, text, example, sample }: TemplateHeaderDefinition,
  path: Path,
  numbered: boolean,
): TemplateProblem[] {
  const at = (field: string): Path => [...path, field]
  if (format !== 'TEXT') {
    const takesSample = isSampleFormat(format)
    return [
      ...problemIf(text !== undefined, at('text'), problems.headerWithoutText({ format })),
      ...problemIf(example !== undefined, at('example'), problems.headerWithoutVariable({ format })),
      ...problemIf(takesSample && countOf(sample?.link, sample?.handle) !== 1, at('sample'), problems.sample()),
      ...problemIf(!takesSample && sample !== undefined, at('sample'), problems.headerWithoutFile({ format })),
    ]
  }
  if (text === undefined) return [{ path: at('text'), problem: problems.requiredHeaderText() }]
  const keys = listVariables(text)
  const [key] = keys
  return [
    ...problemIf(sample !== undefined, at('sample'), problems.headerWithoutFile({ format })),
    ...checkLength(text, at('text'), limits.headerCharacters),
    ...checkOneLine(text, at('text')),
    ...checkFormatting(text, at('text')),
    ...checkVariableNames(text, at('text')),
    ...problemIf(keys.length > 1, at('text'), problems.oneVariable()),
    ...problemIf(keys.length === 1 && numbered && key !== '1', at('text'), problems.numberOfVariable()),
    ...problemIf(
      keys.length > 0 && (example ?? '').trim() === '',
      at('example'),
      problems.requiredExample({ key: key ?? '' }),
    ),
    ...problemIf(keys.length === 0 && example !== undefined, at('example'), problems.noVariable()),
  ]
}

function countOf(...values: unknown[]): number {
  return values.filter((value) => value !== undefined).length
}

function checkBody(
  body: TemplateBodyDefinition,
  path: Path,
  { numbered, maxCharacters }: { numbered: boolean; maxCharacters: number },
): TemplateProblem[] {
  const { text, examples = {} } = body
  const at = (...fields: string[]): Path => [...path, ...fields]
  const keys = listVariables(text)
  const missing = keys.filter((key) => exampleOfVariable(body, key).trim() === '')
  const unknown = Object.keys(examples).filter((key) => !keys.includes(key))
  return [
    ...problemIf(text.trim() === '', at('text'), problems.blank()),
    ...checkLength(text, at('text'), maxCharacters),
    ...checkVariableNames(text, at('text')),
    ...checkVariablePositions(text, at('text')),
    ...checkNumbering(keys, at('text'), numbered),
    ...problemIf(/\n{3}/.test(text), at('text'), problems.lineBreaks()),
    ...missing.map((key) => ({
      path: at('examples', key),
      problem: problems.requiredExample({ key }),
    })),
    ...unknown.map((key) => ({ path: at('examples', key), problem: problems.noSuchVariable({ key }) })),
    ...keys.flatMap((key) =>
      problemIf(/[\n\t]| {5}/.test(exampleOfVariable(body, key)), at('examples', key), problems.exampleSpaces()),
    ),
  ]
}

/** Finds `{{ }}`, `{1}` and `{{first name}}`, which WhatsApp treats as text or rejects. */
function checkVariableNames(text: string, path: Path): TemplateProblem[] {
  const rest = text.replaceAll(/\{\{\s*[A-Za-z0-9_]+\s*\}\}/g, '')
  const keys = listVariables(text)
  const capital = keys.find((key) => /[A-Z]/.test(key))
  return [
    ...problemIf(/\{\{|\}\}|\{\s*\w+\s*\}/.test(rest), path, problems.variableForm()),
    ...problemIf(
      capital !== undefined,
      path,
      problems.variableCase({ right: (capital ?? '').toLowerCase(), wrong: capital ?? '' }),
    ),
  ]
}

function checkVariablePositions(text: string, path: Path): TemplateProblem[] {
  const trimmed = text.trim()
  return [
    ...problemIf(/^\{\{[^{}]*\}\}/.test(trimmed), path, problems.startsWithVariable()),
    ...problemIf(/\{\{[^{}]*\}\}$/.test(trimmed), path, problems.endsWithVariable()),
    ...problemIf(/\}\}\s*\{\{/.test(trimmed), path, problems.adjacentVariables()),
  ]
}

/** WhatsApp requires consecutive numbers: `{{1}}`, `{{2}}` … */
function checkNumbering(keys: string[], path: Path, numbered: boolean): TemplateProblem[] {
  if (!numbered)
    return problemIf(
      keys.some((key) => /^\d+$/.test(key)),
      path,
      problems.mixedVariables(),
    )
  const gap = keys.findIndex((_, index) => !keys.includes(String(index + 1)))
  return problemIf(gap >= 0, path, problems.gap({ last: keys.length, missing: gap + 1 }))
}

function checkOneLine(text: string, path: Path): TemplateProblem[] {
  return problemIf(/[\n\r\t]/.test(text), path, problems.oneLine())
}

const emoji = /(?![©®™])\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20E3/u
/** Without those that are text unless a variation selector follows, such as ☎ and ✔. */
const coloredEmoji = /\p{Emoji_Presentation}|[\uFE0F\u20E3]/u

/** WhatsApp allows formatting and emoji only in the body. */
function checkFormatting(text: string, path: Path): TemplateProblem[] {
  const fixed = text.replaceAll(/\{\{[^{}]*\}\}/g, '')
  return problemIf(/[*~`]|(?:^|\s)_\S/.test(fixed) || emoji.test(fixed), path, problems.formatting())
}

/** WhatsApp's error names only line breaks and emoji, so formatting is not rejected here. */
function checkFooter(footer: string): TemplateProblem[] {
  return [
    ...checkLength(footer, ['footer'], limits.footerCharacters),
    ...checkOneLine(footer, ['footer']),
    ...problemIf(coloredEmoji.test(footer), ['footer'], problems.emoji()),
    ...problemIf(/\{\{/.test(footer), ['footer'], problems.variables()),
  ]
}

function checkLabel(text: string | undefined, path: Path): TemplateProblem[] {
  if (text === undefined) return []
  return [
    ...checkLength(text, path, limits.labelCharacters),
    ...checkOneLine(text, path),
    ...checkFormatting(text, path),
    ...problemIf(/\{\{/.test(text), path, problems.variables()),
  ]
}

/** Maximum number of buttons of each type; 10 for all other types. */
const maxOfKind: Partial<Record<TemplateButtonType, number>> = {
  URL: 2,
  PHONE_NUMBER: 1,
  COPY_CODE: 1,
  FLOW: 1,
  VOICE_CALL: 1,
  REQUEST_CONTACT_INFO: 1,
  CATALOG: 1,
  MPM: 1,
  SPM: 1,
}

function checkButtons(buttons: TemplateButtonDefinition[], path: Path): TemplateProblem[] {
  const counts = Object.entries(maxOfKind).flatMap(([type, max]) => {
    const count = buttons.filter((button) => button.type === type).length
    return problemIf(count > max, path, problems.buttonsOfType({ most: max, type, count }))
  })
  const alone = buttons.find(({ type }) => type === 'CATALOG' || type === 'MPM')
  return [
    ...problemIf(
      buttons.length > limits.buttons,
      path,
      problems.buttons({ buttons: limits.buttons, length: buttons.length }),
    ),
    ...counts,
    ...problemIf(countReplyBlocks(buttons) > 1 || isReplyInside(buttons), path, problems.quickReplies()),
    ...problemIf(alone !== undefined && buttons.length > 1, path, problems.buttonBeside({ type: alone?.type ?? '' })),
    ...buttons.flatMap((button, index) => checkButton(button, [...path, index])),
  ]
}

function countReplyBlocks(buttons: TemplateButtonDefinition[]): number {
  return buttons.filter(({ type }, index) => type === 'QUICK_REPLY' && buttons[index - 1]?.type !== 'QUICK_REPLY')
    .length
}

function isReply({ type }: TemplateButtonDefinition): boolean {
  return type === 'QUICK_REPLY'
}

/** Whether there are quick replies, but neither first nor last, as in URL, QUICK_REPLY, URL. */
function isReplyInside(buttons: TemplateButtonDefinition[]): boolean {
  const [first] = buttons
  const last = buttons.at(-1)
  return buttons.some(isReply) && first !== undefined && last !== undefined && !isReply(first) && !isReply(last)
}

type ButtonField = Exclude<keyof TemplateButtonDefinition, 'type'>

/** The required and optional fields of each button type. */
const buttonFields: Record<TemplateButtonType, { required: ButtonField[]; optional: ButtonField[] }> = {
  QUICK_REPLY: { required: ['text'], optional: [] },
  URL: { required: ['text', 'url'], optional: ['example'] },
  PHONE_NUMBER: { required: ['text', 'phoneNumber'], optional: [] },
  COPY_CODE: { required: ['example'], optional: [] },
  FLOW: { required: ['text', 'flowId'], optional: ['flowAction', 'navigateScreen'] },
  VOICE_CALL: { required: ['text'], optional: [] },
  REQUEST_CONTACT_INFO: { required: [], optional: [] },
  CATALOG: { required: [], optional: [] },
  MPM: { required: [], optional: [] },
  SPM: { required: [], optional: [] },
}

function checkButton(button: TemplateButtonDefinition, path: Path): TemplateProblem[] {
  const { type, text, url, phoneNumber, example } = button
  const { required, optional } = buttonFields[type]
  const at = (field: string): Path => [...path, field]
  // The schema allows no other fields.
  const given = (Object.keys(button) as (keyof TemplateButtonDefinition)[]).filter(
    (field) => button[field] !== undefined,
  )
  return [
    ...required.flatMap((field) =>
      problemIf(button[field] === undefined, at(field), problems.requiredInButton({ type })),
    ),
    ...given
      .filter((field) => field !== 'type' && !required.includes(field) && !optional.includes(field))
      .map((field) => ({ path: at(field), problem: problems.notInButton({ type }) })),
    ...checkLabel(text, at('text')),
    ...(type === 'URL' && url !== undefined ? checkUrl(url, example, path) : []),
    ...problemIf(
      type === 'PHONE_NUMBER' && phoneNumber !== undefined && !/^\+?[1-9][0-9]{6,18}$/.test(phoneNumber),
      at('phoneNumber'),
      problems.phoneNumber(),
    ),
    ...problemIf(
      type === 'COPY_CODE' && example !== undefined && !/^[A-Za-z0-9]+$/.test(example),
      at('example'),
      problems.couponCode(),
    ),
    ...(type === 'COPY_CODE' ? checkLength(example, at('example'), limits.couponCodeCharacters) : []),
    ...problemIf(
      type === 'FLOW' && button.navigateScreen !== undefined && button.flowAction === 'data_exchange',
      at('navigateScreen'),
      problems.screen(),
    ),
  ]
}

function checkUrl(url: string, example: string | undefined, path: Path): TemplateProblem[] {
  const at = (field: string): Path => [...path, field]
  const keys = listVariables(url)
  const base = url.replace(/\{\{[^{}]*\}\}$/, '')
  return [
    ...checkLength(url, at('url'), limits.urlCharacters),
    ...problemIf(
      !/^https?:\/\/[^\s/?#]+\.[^\s]*$/.test(base.replaceAll(/[{}]/g, '')) ||
        !URL.canParse(base.replaceAll(/[{}]/g, '')),
      at('url'),
      problems.address(),
    ),
    ...problemIf(/[{}]/.test(base), at('url'), problems.addressVariable()),
    ...problemIf(keys.length === 1 && keys[0] !== '1', at('url'), problems.numberOfVariable()),
    ...problemIf(
      /^https?:\/\/(?:[^/]*\.)?(?:wa\.me|whatsapp\.com)(?:[/?#]|$)/i.test(url),
      at('url'),
      problems.whatsAppLink(),
    ),
    ...problemIf(keys.length > 0 && (example ?? '').trim() === '', at('example'), problems.requiredAddressExample()),
    ...problemIf(keys.length === 0 && example !== undefined, at('example'), problems.noAddressVariable()),
  ]
}

const cardButtonTypes: readonly TemplateButtonType[] = ['QUICK_REPLY', 'URL', 'PHONE_NUMBER']
const cardFormats: ReadonlySet<TemplateHeaderDefinition['format']> = new Set(['IMAGE', 'VIDEO', 'PRODUCT'])
const notWithCards = ['header', 'footer', 'buttons', 'limitedTimeOffer'] as const

/** All cards must have the same parts (Meta, "Media card carousel templates"). */
function checkCards(
  cards: TemplateCardDefinition[],
  template: TemplateDefinition,
  numbered: boolean,
): TemplateProblem[] {
  const [first] = cards
  return [
    ...problemIf(
      cards.length < 2 || cards.length > limits.cards,
      ['cards'],
      problems.cards({ cards: limits.cards, length: cards.length }),
    ),
    ...notWithCards.flatMap((part) => problemIf(template[part] !== undefined, [part], problems.notWithCards())),
    ...cards.flatMap((card, index) => [
      ...checkCard(card, ['cards', index], numbered),
      ...problemIf(
        card.header.format !== first?.header.format,
        ['cards', index, 'header', 'format'],
        problems.formatOfCards({ format: first?.header.format ?? '' }),
      ),
      ...problemIf(
        (card.body === undefined) !== (first?.body === undefined),
        ['cards', index, 'body'],
        problems.onAllCards(),
      ),
      ...problemIf(
        listKinds(card) !== (first ? listKinds(first) : ''),
        ['cards', index, 'buttons'],
        problems.buttonsOfCards(),
      ),
    ]),
  ]
}

function listKinds({ buttons = [] }: TemplateCardDefinition): string {
  return buttons.map(({ type }) => type).join()
}

function checkCard(
  { header, body, buttons = [] }: TemplateCardDefinition,
  path: Path,
  numbered: boolean,
): TemplateProblem[] {
  const at = (...fields: (string | number)[]): Path => [...path, ...fields]
  const isProduct = header.format === 'PRODUCT'
  const wrong = buttons.findIndex(({ type }) => !cardButtonTypes.includes(type))
  return [
    ...problemIf(!cardFormats.has(header.format), at('header', 'format'), problems.cardFormat()),
    ...problemIf(isProduct && body !== undefined, at('body'), problems.productCard()),
    ...checkProduct(header.format, buttons, at('buttons')),
    ...checkHeader(header, at('header'), numbered),
    ...(body ? checkBody(body, at('body'), { numbered, maxCharacters: limits.cardBodyCharacters }) : []),
    ...problemIf(
      !isProduct && (buttons.length < 1 || buttons.length > limits.cardButtons),
      at('buttons'),
      problems.cardButtons({ cardButtons: limits.cardButtons }),
    ),
    ...problemIf(
      !isProduct && wrong >= 0,
      at('buttons', wrong, 'type'),
      problems.cardButtonType({ types: cardButtonTypes.join(', ') }),
    ),
    ...buttons.flatMap((button, index) => checkButton(button, at('buttons', index))),
  ]
}

/** Meta, "Limited-time offer templates". */
function checkOffer({
  category,
  header,
  footer,
  buttons = [],
  limitedTimeOffer,
}: TemplateDefinition): TemplateProblem[] {
  const kinds = buttons.map(({ type }) => type).join()
  return [
    ...problemIf(category !== 'MARKETING', ['limitedTimeOffer'], problems.offerCategory()),
    ...problemIf(limitedTimeOffer?.text.trim() === '', ['limitedTimeOffer', 'text'], problems.blank()),
    ...checkLength(limitedTimeOffer?.text, ['limitedTimeOffer', 'text'], limits.offerCharacters),
    ...problemIf(footer !== undefined, ['footer'], problems.offerFooter()),
    ...problemIf(
      header !== undefined && header.format !== 'IMAGE' && header.format !== 'VIDEO',
      ['header', 'format'],
      problems.offerHeader(),
    ),
    ...problemIf(kinds !== 'URL' && kinds !== 'COPY_CODE,URL', ['buttons'], problems.offerButtons()),
  ]
}
