/** An instruction of a Dockerfile, including continuation lines. */
export interface Instruction {
  keyword: string
  rest: string
}

export interface Stage {
  name: string | undefined
  instructions: Instruction[]
}

/** Parses the simple subset that our Dockerfile uses: no here-documents and no escapes. */
export function readStages(dockerfile: string): Stage[] {
  const stages: Stage[] = []
  for (const instruction of readInstructions(dockerfile)) {
    if (instruction.keyword === 'FROM') {
      const [, name] = / AS (\S+)$/.exec(instruction.rest) ?? []
      stages.push({ name, instructions: [] })
    } else stages.at(-1)?.instructions.push(instruction)
  }
  return stages
}

export function readInstructions(dockerfile: string): Instruction[] {
  const lines = dockerfile
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [keyword = '', ...words] = line.split(' ')
      return { keyword, rest: words.join(' ') }
    })
}

/**
 * Whether the build context includes a file of the repository. Our .dockerignore excludes everything and lists
 * exceptions.
 */
export function isInContext(dockerignore: string, file: string): boolean {
  const [first, ...others] = dockerignore.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  if (first !== '*' || !others.every((line) => line.startsWith('!')))
    throw new Error('.dockerignore is read as a list of what is let in')
  return others.map((line) => line.slice(1)).some((allowed) => file === allowed || file.startsWith(`${allowed}/`))
}
