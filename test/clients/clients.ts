import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { uploadMedia } from '../../contracts/api/media.ts'
import type { OpenApiDocument } from '../../src/http/openapi/document.ts'
import { openApiForms } from '../../src/http/openapi/openapi30.ts'
import type { Check } from './scenario.ts'
import {
  cargoTarget,
  copyProgram,
  document,
  fillOnce,
  installPackages,
  openapiGenerator,
  pythonCommand,
  run,
} from './tools.ts'

export interface Client {
  /** The folder of the program that uses it. */
  name: string
  language: string
  generator: string
  /** Commands that the machine must have. */
  needs: readonly string[]
  /** The document that it is generated from; 3.1 by default. */
  document?: '3.0' | '3.1'
  /** Checks that the generated client cannot pass, with the reason. */
  lacks?: Partial<Record<Check, string>>
  /** Generates the client and compiles the program; returns the command that runs it. */
  build: () => Promise<{ folder: string; command: string; args: string[]; environment?: Record<string, string> }>
}

export const clients: readonly Client[] = [
  {
    name: 'python-openapi-generator',
    language: 'Python',
    generator: 'openapi-generator',
    needs: ['python3', 'java'],
    build: async () => {
      const { program, generated } = await copyProgram('python-openapi-generator')
      await openapiGenerator('python', generated)
      return {
        folder: program,
        command: await pythonCommand('python'),
        args: ['send.py'],
        environment: { PYTHONPATH: generated },
      }
    },
  },
  {
    name: 'python-openapi-python-client',
    language: 'Python',
    generator: 'openapi-python-client',
    needs: ['python3'],
    build: async () => {
      const { program, generated } = await copyProgram('python-openapi-python-client')
      const args = ['generate', '--path', document, '--output-path', generated, '--overwrite']
      await run(generated, await pythonCommand('openapi-python-client'), [...args, '--meta', 'setup'])
      return {
        folder: program,
        command: await pythonCommand('python'),
        args: ['send.py'],
        environment: { PYTHONPATH: generated },
      }
    },
  },
  typescriptClient('openapi-typescript with openapi-fetch', 'openapi-fetch', [
    'openapi-typescript/bin/cli.js',
    document,
    '--output',
    'generated/waybill.ts',
  ]),
  typescriptClient('@hey-api/openapi-ts', 'hey-api', [
    '@hey-api/openapi-ts/bin/run.js',
    '--input',
    document,
    '--file',
    'openapi-ts.config.mjs',
  ]),
  typescriptClient('orval', 'orval', [
    'orval/dist/bin/orval.js',
    '--input',
    document,
    '--output',
    'generated/orval.ts',
    '--client',
    'fetch',
  ]),
  typescriptClient('swagger-typescript-api', 'swagger-typescript-api', [
    'swagger-typescript-api/dist/cli.mjs',
    'generate',
    '--path',
    document,
    '--output',
    'generated',
    '--name',
    'swagger-typescript-api.ts',
  ]),
  typescriptClient('openapi-zod-client', 'openapi-zod-client', [
    'openapi-zod-client/bin.js',
    document,
    '--output',
    'generated/openapi-zod-client.ts',
  ]),
  typescriptClient('openapi-generator with fetch', 'typescript-fetch'),
  typescriptClient('openapi-generator with axios', 'typescript-axios'),
  {
    name: 'postman',
    language: 'Postman',
    generator: 'openapi-to-postmanv2, run by Newman',
    needs: ['npm'],
    build: async () => {
      const { program } = await copyProgram('postman')
      await installPackages(program, 'postman')
      const converter = path.join('node_modules', 'openapi-to-postmanv2/bin/openapi2postmanv2.js')
      const options = ['--options', 'parametersResolution=Example,folderStrategy=Tags']
      await run(program, process.execPath, [converter, '--spec', document, '--output', 'collection.json', ...options])
      return { folder: program, command: process.execPath, args: ['send.mjs'] }
    },
  },
  {
    name: 'go-oapi-codegen',
    language: 'Go',
    generator: 'oapi-codegen with its defaults',
    needs: ['go'],
    build: async () => {
      const { program } = await copyProgram('go-oapi-codegen')
      const generator = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2'
      const generated = await run(program, 'go', ['run', generator, '-package', 'waybill', document])
      await writeSource(path.join(program, 'waybill/waybill.go'), generated)
      await run(program, 'go', ['build', '-o', 'sender', '.'])
      return { folder: program, command: path.join(program, 'sender'), args: [] }
    },
  },
  {
    name: 'go-ogen',
    language: 'Go',
    generator: 'ogen',
    needs: ['go'],
    build: async () => {
      const { program } = await copyProgram('go-ogen')
      const args = ['--target', 'waybill', '--package', 'waybill', '--clean', document]
      await run(program, 'go', ['tool', 'ogen', ...args])
      await run(program, 'go', ['build', '-o', 'sender', '.'])
      return { folder: program, command: path.join(program, 'sender'), args: [] }
    },
  },
  {
    name: 'rust-openapi-generator',
    language: 'Rust',
    generator: 'openapi-generator',
    needs: ['cargo', 'java', 'python3'],
    lacks: { 'reads `Retry-After`': 'keeps no headers of a failure' },
    build: async () => {
      const { program, generated } = await copyProgram('rust-openapi-generator')
      // Cargo.lock names the version of the generated crate, which is that of the document by default.
      await openapiGenerator('rust', generated, '--additional-properties', 'packageVersion=0.0.0')
      return buildRust(program, 'sender')
    },
  },
  {
    name: 'rust-progenitor',
    language: 'Rust',
    generator: 'progenitor',
    document: '3.0',
    needs: ['cargo'],
    lacks: { 'uploads a file': 'supports no forms: remove `uploadMedia` from the document' },
    build: async () => {
      const { program } = await copyProgram('rust-progenitor')
      const reduced = JSON.parse(await readFile(document, 'utf8')) as OpenApiDocument
      delete reduced.paths[uploadMedia.path]
      await writeFile(path.join(program, 'openapi-3.0.json'), openApiForms['openapi-3.0.json'](reduced))
      return buildRust(program, 'sender-progenitor')
    },
  },
  {
    name: 'java-openapi-generator',
    language: 'Java',
    generator: 'openapi-generator with its native HTTP client',
    needs: ['javac', 'mvn', 'python3'],
    build: async () => {
      const { program, generated } = await copyProgram('java-openapi-generator')
      await openapiGenerator('java', generated, '--library', 'native')
      const jars = await fillOnce('java', path.join(program, 'pom.xml'), async (folder) => {
        const args = ['--batch-mode', '--quiet', 'dependency:copy-dependencies', `-DoutputDirectory=${folder}`]
        await run(program, 'mvn', args)
      })
      const classes = path.join(program, 'classes')
      const sources = ['-sourcepath', path.join(generated, 'src/main/java'), 'Send.java']
      await run(program, 'javac', ['-nowarn', '-proc:none', '-d', classes, '-classpath', `${jars}/*`, ...sources])
      return { folder: program, command: 'java', args: ['-classpath', `${classes}:${jars}/*`, 'Send'] }
    },
  },
  {
    name: 'php-openapi-generator',
    language: 'PHP',
    generator: 'openapi-generator with Guzzle',
    needs: ['php', 'java', 'python3'],
    build: async () => {
      const { program, generated } = await copyProgram('php-openapi-generator')
      await openapiGenerator('php', generated)
      return { folder: program, command: 'php', args: ['send.php'], environment: { GENERATED: generated } }
    },
  },
  {
    name: 'ruby-openapi-generator',
    language: 'Ruby',
    generator: 'openapi-generator with Typhoeus',
    needs: ['ruby', 'java', 'python3'],
    build: async () => {
      const { program, generated } = await copyProgram('ruby-openapi-generator')
      await openapiGenerator('ruby', generated)
      return { folder: program, command: 'ruby', args: ['-I', path.join(generated, 'lib'), 'send.rb'] }
    },
  },
]

/** Node's modules need the extensions of files in imports. */
const nodeImports = ['--additional-properties', 'importFileExtension=.js']

/** A program of the TypeScript project, which has its own compiler. Without a tool, openapi-generator makes its client. */
function typescriptClient(generator: string, script: string, [tool, ...args]: string[] = []): Client {
  return {
    name: `typescript-${script}`,
    language: 'TypeScript',
    generator,
    needs: tool === undefined ? ['npm', 'java', 'python3'] : ['npm'],
    build: async () => {
      const { program } = await copyProgram('typescript', `typescript-${script}`)
      await installPackages(program, 'typescript')
      const generated = path.join(program, 'generated', script)
      await mkdir(generated, { recursive: true })
      if (tool !== undefined) await run(program, process.execPath, [path.join('node_modules', tool), ...args])
      else await openapiGenerator(script, generated, ...nodeImports)
      const files = { extends: './tsconfig.json', files: [`${script}.ts`] }
      await writeFile(path.join(program, `tsconfig.${script}.json`), JSON.stringify(files))
      await run(program, process.execPath, ['node_modules/typescript/bin/tsc', '-p', `tsconfig.${script}.json`])
      return { folder: program, command: process.execPath, args: [`out/${script}.js`] }
    },
  }
}

async function writeSource(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, text)
}

async function buildRust(program: string, binary: string): ReturnType<Client['build']> {
  await run(program, 'cargo', ['build', '--quiet', '--locked'], { CARGO_TARGET_DIR: cargoTarget })
  return { folder: program, command: path.join(cargoTarget, 'debug', binary), args: [] }
}
