import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { Question } from './command.ts'

/** Where questions are asked. */
export interface Terminal {
  input: NodeJS.ReadableStream
  output: NodeJS.WritableStream
}

export function findTerminal(): Terminal | undefined {
  const { stdin: input, stderr: output } = process
  return input.isTTY && output.isTTY ? { input, output } : undefined
}

/** An empty answer is the preset, and so is a missing terminal. A secret is not echoed. */
export async function askAt(terminal: Terminal | undefined, question: Question): Promise<string | undefined> {
  const { text, isSecret = false, preset, isOptional = false } = question
  if (!terminal || (preset !== undefined && !isOptional)) return preset
  const { input, output } = terminal
  output.write(`${text} `)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input, output: isSecret ? silent : output, terminal: isSecret })
  // `question` never settles if the input ends.
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  try {
    const answer = (await Promise.race([lines.question(''), ended])).trim()
    return answer === '' ? preset : answer
  } finally {
    lines.close()
    if (isSecret) output.write('\n')
  }
}
