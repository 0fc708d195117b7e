import type { Failure } from '../../api/failure.ts'

/**
 * Assigns the problems of a test message to form fields. The API reports all variables in one text, such as
 * `"1" must not be empty. "2" must not contain a tab.` Problems without a field are returned as `rest`.
 */
export function placeProblems(
  { message, fields }: Failure,
  { keys, paths }: { keys: string[]; paths: string[] },
): { fields: Record<string, string>; rest: string | undefined } {
  const placed: Record<string, string> = {}
  let isComplete = Object.keys(fields).length > 0
  for (const [name, problem] of Object.entries(fields)) {
    if (name === 'variables') {
      for (const part of problem.split(/(?<=\.)\s+(?=")/)) {
        const [, key, rest] = /^"([^"]+)" (.+)$/s.exec(part) ?? []
        if (key !== undefined && rest !== undefined && keys.includes(key)) placed[`variables.${key}`] = toSentence(rest)
        else isComplete = false
      }
    } else if (paths.includes(name)) placed[`values.${name}`] = problem
    else if (name === 'to' || keys.some((key) => name === `variables.${key}`)) placed[name] = problem
    else isComplete = false
  }
  return { fields: placed, rest: isComplete ? undefined : message }
}

function toSentence(problem: string): string {
  const start = problem.charAt(0).toUpperCase() + problem.slice(1)
  return start.endsWith('.') ? start : `${start}.`
}
