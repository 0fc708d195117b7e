/**
 * What a sentence says: the code of its text and the values in it. Facts are passed and compared; the sentence is made
 * where it is read, in English by `inEnglish`, in other languages by the dashboard.
 */
export interface Fact {
  readonly code: string
  readonly params?: Readonly<Record<string, FactParam>>
}

/** A fact, or the words of somebody else, such as WhatsApp's, which have no translation. */
export type Sentence = Fact | string

/** A fact among the values is a part of the sentence, and several are a list. */
export type FactParam = string | number | FactTime | Fact | readonly Fact[]

/** A time, which is shown in the language and time zone of the reader, and in English as `english`. */
export interface FactTime {
  readonly at: string
  readonly english: string
}

/** The facts behind the sentences of an answer, by the name of the field that has the English sentence. */
export type Facts = Record<string, Fact>

/** English texts by the name of the fact. As in ICU messages, braces are quoted: `'{{1}}'`. */
interface Texts {
  readonly [name: string]: string | Texts
}

type WithoutQuotes<Text extends string> = Text extends `${infer Before}'{${string}'${infer After}`
  ? WithoutQuotes<`${Before}${After}`>
  : Text extends `${infer Before}'}${string}'${infer After}`
    ? WithoutQuotes<`${Before}${After}`>
    : Text

type NameIn<Text extends string> = Text extends `${string}{${infer Name}}${infer After}` ? Name | NameIn<After> : never

type CreateFact<Name extends string> = [Name] extends [never] ? () => Fact : (params: Record<Name, FactParam>) => Fact

export type FactsOf<Group extends Texts> = {
  readonly [Name in keyof Group]: Group[Name] extends string
    ? CreateFact<NameIn<WithoutQuotes<Group[Name]>>>
    : Group[Name] extends Texts
      ? FactsOf<Group[Name]>
      : never
}

/** A name in braces, or quoted braces. */
const placeholder = /\{(\w+)\}|'([{}][^']*)'/g

const englishTexts = new Map<string, string>()

/** The English text of every fact of the modules that are loaded, by its code. */
export const factTexts: ReadonlyMap<string, string> = englishTexts

/** Defines facts with their English texts. The code of a fact is the path to its text, such as `failure.tooFast.advice`. */
export function defineFacts<const Group extends Texts>(path: string, texts: Group): FactsOf<Group> {
  const facts = Object.entries(texts).map(([name, text]) => [name, defineOne(`${path}.${name}`, text)])
  // `Object.fromEntries` loses the names.
  return Object.fromEntries(facts) as FactsOf<Group>
}

function defineOne(code: string, text: string | Texts): unknown {
  if (typeof text !== 'string') return defineFacts(code, text)
  englishTexts.set(code, text)
  const names = [...text.matchAll(placeholder)].flatMap(([, name]) => name ?? [])
  if (names.length === 0) return (): Fact => ({ code })
  // Others are left out, so that an input can be passed that has more than the text names.
  return (given: NonNullable<Fact['params']>): Fact => {
    const params = names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]] as const]))
    return { code, params: Object.fromEntries(params) }
  }
}

export function inEnglish(sentence: Sentence, say = ({ english }: FactTime): string => english): string {
  if (typeof sentence === 'string') return sentence
  const { code, params } = sentence
  const text = englishTexts.get(code) ?? code
  return text.replaceAll(placeholder, (_match, name: string | undefined, quoted: string | undefined) =>
    name === undefined ? (quoted ?? '') : paramInEnglish(params?.[name] ?? '', say),
  )
}

function paramInEnglish(param: FactParam, say: (time: FactTime) => string): string {
  if (typeof param === 'string' || typeof param === 'number') return String(param)
  if (isList(param)) return new Intl.ListFormat('en').format(param.map((one) => inEnglish(one, say)))
  return 'at' in param ? say(param) : inEnglish(param, say)
}

/** `Array.isArray` does not narrow readonly arrays. */
export function isList(param: FactTime | Fact | readonly Fact[]): param is readonly Fact[] {
  return Array.isArray(param)
}

/** Joins parts one by one with `pair`; undefined if there are none. */
export function join<Part extends FactParam>(
  parts: readonly Part[],
  pair: (params: { first: FactParam; rest: FactParam }) => Fact,
): Part | Fact | undefined {
  return parts.reduceRight<Part | Fact | undefined>(
    (rest, first) => (rest === undefined ? first : pair({ first, rest })),
    undefined,
  )
}

/** Reads sentences that are stored as their English texts: as facts, if they are of this group. */
export function readerOf(group: Readonly<Record<string, () => Fact>>): (english: string) => Sentence {
  const facts = new Map(Object.values(group).map((create) => [inEnglish(create()), create()]))
  return (english) => facts.get(english) ?? english
}

/** Sentences in English, with the facts behind them, for an answer to the dashboard. */
export function withFacts<Said extends Readonly<Record<string, Sentence | undefined>>>(
  sentences: Said,
): InEnglish<Said> & { facts?: Facts } {
  const facts = Object.entries(sentences).filter(([, sentence]) => typeof sentence === 'object')
  // `Object.fromEntries` loses the names.
  return { ...allInEnglish(sentences), ...(facts.length > 0 && { facts: Object.fromEntries(facts) as Facts }) }
}

/** Sentences in English alone. */
export function allInEnglish<Said extends Readonly<Record<string, Sentence | undefined>>>(
  sentences: Said,
): InEnglish<Said> {
  const said = Object.entries(sentences).flatMap(([name, sentence]) =>
    sentence === undefined ? [] : [[name, inEnglish(sentence)] as const],
  )
  // `Object.fromEntries` loses the names.
  return Object.fromEntries(said) as InEnglish<Said>
}

/** Optional sentences stay optional. */
type InEnglish<Said> = { [Name in keyof Said]: string }

/** An answer with its English sentences alone, for programs. */
export function withoutFacts<Answer>(answer: Answer): Answer {
  if (Array.isArray(answer)) return answer.map(withoutFacts) as Answer
  if (typeof answer !== 'object' || answer === null || answer instanceof Date) return answer
  const { facts: _facts, ...rest } = answer as { facts?: unknown }
  // Facts are optional, so the type is the same without them.
  return Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, withoutFacts(value)])) as Answer
}
