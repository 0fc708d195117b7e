import type { TemplateChange } from '../../../contracts/api/template-changes.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import type {
  TemplateButtonDefinition,
  TemplateDefinition,
  TemplateHeaderDefinition,
} from '../../../contracts/templates/definition.ts'
import { describeTemplateProblem, findTemplateProblems } from '../../../contracts/templates/rules.ts'
import type { Deps } from '../../deps.ts'
import { readDatabaseClock } from '../../platform/db/clock.ts'
import { cutBase, toComponents, toDefinition, toParameterFormat } from '../../whatsapp/template-components.ts'
import type { ListedTemplate } from '../../whatsapp/template-management.ts'
import { scheduleSync } from '../../whatsapp-accounts/store.ts'
import type { TemplateRow } from '../store.ts'
import { explainTemplateFailure } from './failures.ts'
import { storeSubmitted } from './store.ts'
import type { TemplateAccount } from './template-account.ts'

export type ChangeDeps = Pick<Deps, 'db' | 'whatsapp' | 'secrets' | 'media' | 'now' | 'log' | 'quotas'>

/** A template, and the WhatsApp account to submit it with; without one, the default one. */
export type SubmittedTemplate = TemplateDefinition & { accountId?: string | undefined }

const maxProblems = 10

/** Throws a VALIDATION_ERROR that names every problem of a template, each with its path and fix. */
export function assertValidTemplate(template: TemplateDefinition): void {
  const problems = findTemplateProblems(template)
  if (problems.length === 0) return
  const sentences = problems.map(describeTemplateProblem)
  const more = sentences.length > maxProblems ? ` And ${sentences.length - maxProblems} more.` : ''
  throw new ServiceError('VALIDATION_ERROR', sentences.slice(0, maxProblems).join(' ') + more, {
    fields: Object.fromEntries(problems.toReversed().map(({ path, problem }) => [path.join('.'), problem])),
  })
}

/** Returns the definition of a stored template; undefined if it has parts that cannot be expressed as a definition. */
export function definitionOf(row: TemplateRow): TemplateDefinition | undefined {
  const definition = toDefinition(row)
  return typeof definition === 'string' ? undefined : definition
}

/** Whether WhatsApp already has this template. A lifetime is not stored, so one that is given is compared with WhatsApp's. */
export async function isUnchanged(
  deps: ChangeDeps,
  account: TemplateAccount,
  { stored, template }: { stored: TemplateRow; template: TemplateDefinition },
): Promise<boolean> {
  const { ttlSeconds } = template
  const listed = definitionOf(stored)
  if (!listed || !isSameTemplate(template, { ...listed, ttlSeconds })) return false
  if (ttlSeconds === undefined) return true
  const read = await deps.whatsapp.getTemplate({ templateId: stored.templateId, accessToken: account.accessToken })
  if (!read.ok) throw await explainTemplateFailure(deps, account, read, 'read')
  return read.value.ttlSeconds === ttlSeconds
}

/**
 * Stores a submitted template as WhatsApp lists it, because WhatsApp writes the text of one-time codes and can change
 * the category. If it cannot be read now, it stays PENDING, and so cannot be sent, until a sync that follows soon.
 */
export async function storeAsListed(
  deps: ChangeDeps,
  account: TemplateAccount,
  template: TemplateDefinition,
  templateId: string,
): Promise<ListedTemplate> {
  const read = await deps.whatsapp.getTemplate({ templateId, accessToken: account.accessToken })
  const listed = read.ok
    ? read.value
    : {
        id: templateId,
        name: template.name,
        language: template.language,
        status: 'PENDING',
        category: template.category,
        parameterFormat: toParameterFormat(template),
        components: toComponents(template),
      }
  const at = await readDatabaseClock(deps.db)
  await storeSubmitted(deps.db, account, { template: listed, requestedCategory: template.category, at })
  if (!read.ok) await scheduleSync(deps.db, account.accountId, account.wabaId)
  return listed
}

export function describeListed(template: ListedTemplate, requestedCategory: string): TemplateChange {
  const { name, language, id, status, category = requestedCategory } = template
  const notice =
    category === requestedCategory
      ? undefined
      : `WhatsApp changed the category from ${requestedCategory} to ${category}. Messages are charged and limited accordingly.`
  return { name, language, templateId: id, status, category, changed: true, ...(notice !== undefined && { notice }) }
}

/** Describes a request that changed nothing, because WhatsApp already has this template. */
export function describeUnchanged(row: TemplateRow): TemplateChange {
  return {
    name: row.name,
    language: row.language,
    templateId: row.templateId,
    status: row.status,
    ...(row.category !== null && { category: row.category }),
    changed: false,
  }
}

/**
 * Returns whether two definitions describe the same template, as far as WhatsApp lists it. Samples and the apps of a
 * one-time code cannot be read back, and the labels of its buttons have defaults in each language. Without a lifetime, a
 * template keeps the one that it has.
 */
export function isSameTemplate(wanted: TemplateDefinition, listed: TemplateDefinition): boolean {
  return JSON.stringify(toComparable(wanted, listed)) === JSON.stringify(toComparable(listed, listed))
}

/** Sorts the keys and removes what cannot be compared. */
function toComparable(template: TemplateDefinition, listed: TemplateDefinition): unknown {
  const { header, cards, authentication, ttlSeconds = listed.ttlSeconds, category: _, ...rest } = template
  const { text = listed.authentication?.text, ...code } = authentication ?? {}
  return sortKeys({
    ...rest,
    ttlSeconds,
    ...(header && { header: withoutSample(header) }),
    ...(rest.buttons && { buttons: rest.buttons.map(toComparableButton) }),
    ...(cards && {
      cards: cards.map((card) => ({
        ...card,
        header: withoutSample(card.header),
        ...(card.buttons && { buttons: card.buttons.map(toComparableButton) }),
      })),
    }),
    ...(authentication && {
      authentication: {
        text,
        otpType: 'otpType' in code ? code.otpType : undefined,
        addSecurityRecommendation: authentication.addSecurityRecommendation ?? false,
        expirationMinutes: authentication.expirationMinutes,
      },
    }),
    ...(rest.limitedTimeOffer && {
      limitedTimeOffer: { ...rest.limitedTimeOffer, expires: rest.limitedTimeOffer.expires ?? false },
    }),
  })
}

/** WhatsApp lists a number with or without its plus sign, and the example of a URL with or without its start. */
function toComparableButton({ phoneNumber, example, ...button }: TemplateButtonDefinition): object {
  return {
    ...button,
    phoneNumber: phoneNumber?.replace(/^\+/, ''),
    example: example && cutBase(example, button.url),
  }
}

function withoutSample({ format, text, example }: TemplateHeaderDefinition): object {
  return { format, text, example }
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(
    entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, sortKeys(inner)]),
  )
}
