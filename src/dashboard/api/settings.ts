import { createTRPCClient, httpLink } from '@trpc/client'
import type { TRPCBuiltRouter, TRPCErrorShape, TRPCMutationProcedure, TRPCQueryProcedure } from '@trpc/server'
import type { z } from 'zod'
import type { SettingsErrorData } from '../../../contracts/dashboard/errors.ts'
import type { SettingsContracts } from '../../../contracts/dashboard/index.ts'
import type { SettingsContract } from '../../../contracts/dashboard/procedure.ts'

/** Every procedure of the dashboard, such as `settings.publicApi.get.query({ accountId })`. */
export const { settings } = createTRPCClient<SettingsRouter>({ links: [httpLink({ url: '/settings/trpc' })] })

type SettingsErrorShape = TRPCErrorShape<SettingsErrorData>

interface TypesOf<C extends SettingsContract> {
  input: z.input<C['input']>
  output: z.output<C['output']>
  meta: object
  errorShape: SettingsErrorShape
}

type ProcedureOf<C extends SettingsContract> = C['kind'] extends 'query'
  ? TRPCQueryProcedure<TypesOf<C>>
  : TRPCMutationProcedure<TypesOf<C>>

type RouterRecordOf<Tree> = {
  [Name in keyof Tree]: Tree[Name] extends SettingsContract ? ProcedureOf<Tree[Name]> : RouterRecordOf<Tree[Name]>
}

interface RootTypes {
  ctx: object
  meta: object
  errorShape: SettingsErrorShape
  transformer: false
}

/** The router type of the dashboard, derived from the contracts. */
type SettingsRouter = TRPCBuiltRouter<RootTypes, RouterRecordOf<SettingsContracts>>
