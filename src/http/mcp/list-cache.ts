import { BoundedMap } from '../../platform/bounded-map.ts'
import type { Answer, Tools } from './session.ts'

export type AnswerMessage = (request: Request, message: object, tools: Tools) => Promise<Answer>

/** Clients differ in their protocol version and in the content types that they accept. */
const maxAnswers = 16
const maxKeyLength = 1_024
/** Stands in a cached answer where the ID of the message goes. No other text of an answer contains it. */
const idMark = 'id-of-the-message-6f1c0d9e'

/** The text of an answer before and after the ID. */
interface CachedAnswer extends Omit<Answer, 'text'> {
  parts: [string, string]
}

/**
 * Answers `tools/list` from a cache. The list is the same for all callers while the process runs, and has
 * almost 40 KB, which the protocol's library would build and check for each message.
 */
export function cacheLists(answerMessage: AnswerMessage): AnswerMessage {
  const answers = new BoundedMap<string, CachedAnswer>(maxAnswers)
  return async (request, message, tools) => {
    const key = isList(message) ? describe(request, message) : undefined
    if (key === undefined || !isList(message)) return answerMessage(request, message, tools)
    let answer = answers.get(key)
    if (!answer) {
      const { text, ...rest } = await answerMessage(request, { ...message, id: idMark }, tools)
      const [before, after, ...more] = text.split(JSON.stringify(idMark))
      if (before === undefined || after === undefined || more.length > 0 || rest.status !== 200)
        return answerMessage(request, message, tools)
      answer = { ...rest, parts: [before, after] }
      answers.set(key, answer)
    }
    const { parts, ...rest } = answer
    return { ...rest, text: parts[0] + JSON.stringify(message.id) + parts[1] }
  }
}

interface ListMessage {
  method: 'tools/list'
  id: string | number
}

function isList(message: object): message is ListMessage {
  if (!('method' in message) || message.method !== 'tools/list' || !('id' in message)) return false
  return typeof message.id === 'string' || Number.isInteger(message.id)
}

/** Everything but the ID can change the answer. Undefined if it is too long for a cache. */
function describe({ headers }: Request, message: ListMessage): string | undefined {
  const key = JSON.stringify([[...headers], { ...message, id: null }])
  return key.length > maxKeyLength ? undefined : key
}
