import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { CommandResult, Question } from './command.ts'
import type { Line } from './syntax.ts'

/** Where questions are asked. */
export interface Terminal {
  input: NodeJS.ReadableStream
  output: NodeJS.WritableStream
}

/**
 * Runs a command, and runs it again with each answer until it has no further question. With `--json` or without a
 * terminal, no question is asked, and the result says what is missing.
 */
export async function runWithQuestions(
  run: (line: Line) => Promise<CommandResult>,
  line: Line,
  terminal: Terminal | undefined = findTerminal(),
): Promise<CommandResult> {
  let current = line
  for (;;) {
    const result = await run(current)
    if (!result.question) return result
    const value = await findValue(result.question, current.json ? undefined : terminal)
    if (value === undefined) return result
    current = { ...current, options: { ...current.options, [result.question.option]: value } }
  }
}

function findTerminal(): Terminal | undefined {
  const { stdin: input, stderr: output } = process
  return input.isTTY && output.isTTY ? { input, output } : undefined
}

async function findValue(question: Question, terminal: Terminal | undefined): Promise<string | undefined> {
  if (!terminal || (question.preset !== undefined && question.isOptional !== true)) return question.preset
  const value = await ask(question, terminal)
  return value === '' ? question.preset : value
}

/** A secret is not echoed. An empty answer to a question without a preset ends the command. */
async function ask({ text, isSecret }: Question, { input, output }: Terminal): Promise<string> {
  output.write(`${text} `)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input, output: isSecret === true ? silent : output, terminal: isSecret === true })
  // `question` never settles if the input ends.
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  try {
    return (await Promise.race([lines.question(''), ended])).trim()
  } finally {
    lines.close()
    if (isSecret === true) output.write('\n')
  }
}
