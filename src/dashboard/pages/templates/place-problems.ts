import type { Failure } from '../../api/failure.ts'

/** Assigns the problems of a test message to form fields. Problems without a field are returned as `rest`. */
export function placeProblems(
  { message, fields }: Failure,
  { keys, paths }: { keys: string[]; paths: string[] },
): { fields: Record<string, string>; rest: string | undefined } {
  const placed: Record<string, string> = {}
  for (const [name, problem] of Object.entries(fields))
    if (paths.includes(name)) placed[`values.${name}`] = problem
    else if (name === 'to' || keys.some((key) => name === `variables.${key}`)) placed[name] = problem
  const count = Object.keys(placed).length
  return { fields: placed, rest: count > 0 && count === Object.keys(fields).length ? undefined : message }
}
