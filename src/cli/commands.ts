import type { DataCommand } from './command.ts'
import { accountCommands, keyCommands } from './commands/account.ts'
import { accountExport, accountRemove } from './commands/account-data.ts'
import { alertCommands } from './commands/alert.ts'
import { auditExport, auditList, auditVerify } from './commands/audit.ts'
import { doctor } from './commands/doctor.ts'
import { mediaCommands } from './commands/media.ts'
import { messageCommands } from './commands/message.ts'
import { migrate, rekey } from './commands/database.ts'
import { operatorCommands, ownerCommands } from './commands/users.ts'
import { ratesCommands } from './commands/rates.ts'
import { recipientErase, recipientExport } from './commands/recipient.ts'
import { requestCommands } from './commands/request.ts'
import { suppressionCommands } from './commands/suppression.ts'
import { templateExport, templatePush } from './commands/template-files.ts'
import { templateCommands } from './commands/template.ts'
import { webhookCommands } from './commands/webhook.ts'
import { whatsappCommands } from './commands/whatsapp.ts'
import { whatsappConnect } from './commands/whatsapp-connect.ts'
import type { Syntax } from './syntax.ts'

export const dataCommands: readonly DataCommand[] = [
  migrate,
  doctor,
  ...accountCommands,
  accountExport,
  accountRemove,
  ...keyCommands,
  ...ownerCommands,
  ...operatorCommands,
  whatsappConnect,
  ...whatsappCommands,
  ...templateCommands,
  templateExport,
  templatePush,
  ...mediaCommands,
  ...webhookCommands,
  ...alertCommands,
  ...messageCommands,
  ...requestCommands,
  ...ratesCommands,
  recipientErase,
  recipientExport,
  ...suppressionCommands,
  auditList,
  auditVerify,
  auditExport,
  rekey,
]

/** Finds the command whose name (or alias) starts the words, and the remaining words. */
export function findCommand<C extends Syntax>(
  commands: readonly C[],
  words: readonly string[],
): { command: C; rest: string[] } | undefined {
  for (const command of commands)
    for (const name of namesOf(command)) {
      const parts = name.split(' ')
      if (beginsWith(words, parts)) return { command, rest: words.slice(parts.length) }
    }
  return undefined
}

/** Returns the commands of a group, such as `key`. */
export function findGroup<C extends Syntax>(commands: readonly C[], words: readonly string[]): C[] {
  const [group] = words
  return commands.filter(
    (command) => group !== undefined && namesOf(command).some((name) => name.startsWith(`${group} `)),
  )
}

function namesOf({ name, alias }: Syntax): string[] {
  return alias === undefined ? [name] : [name, alias]
}

function beginsWith(words: readonly string[], name: readonly string[]): boolean {
  return name.every((word, index) => words[index] === word)
}
