import { type Fact, type FactParam, type Facts, factTexts, inEnglish, isList } from '../../../contracts/facts/fact.ts'
import { describeTime } from '../ui/time.ts'
import { i18n } from './i18n.ts'

/**
 * Says what a field of an answer says, in the language of the reader. Without a fact, the sentence is somebody else's, such
 * as WhatsApp's, or older than facts, and is shown as it is.
 */
export function say<Name extends string>(
  answer: Readonly<Record<Name, string>> & { readonly facts?: Facts | undefined },
  field: Name,
): string {
  return sayFact(answer.facts?.[field], answer[field])
}

/**
 * `english` is the sentence that the server made of the fact. English has no catalogue: a page that loads the texts of facts
 * shows their times in the time zone of the reader, and every other page shows this sentence.
 */
export function sayFact(fact: Fact | undefined, english: string = fact?.code ?? ''): string {
  if (fact === undefined) return english
  if (i18n.messages[fact.code] === undefined)
    return hasTexts(fact) ? inEnglish(fact, ({ at }) => describeTime(at)) : english
  const values = Object.entries(fact.params ?? {}).map(([name, param]) => [name, sayParam(param)])
  return i18n._(fact.code, Object.fromEntries(values) as Record<string, string>)
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** `must be digits only` becomes `Must be digits only.` */
export function toSentence(text: string): string {
  return /[.!?]$/.test(text) ? capitalize(text) : `${capitalize(text)}.`
}

function hasTexts({ code, params = {} }: Fact): boolean {
  const parts = Object.values(params).flat()
  return factTexts.has(code) && parts.every((part) => typeof part !== 'object' || 'at' in part || hasTexts(part))
}

function sayParam(param: FactParam): string {
  if (typeof param === 'string' || typeof param === 'number') return String(param)
  if (!isList(param)) return 'at' in param ? describeTime(param.at) : sayFact(param)
  return new Intl.ListFormat(i18n.locale).format(param.map((one) => sayFact(one)))
}
