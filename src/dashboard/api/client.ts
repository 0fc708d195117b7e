import { createTRPCClient, httpLink } from '@trpc/client'
import type { TRPCBuiltRouter, TRPCErrorShape, TRPCMutationProcedure, TRPCQueryProcedure } from '@trpc/server'
import type { z } from 'zod'
import type { DashboardErrorData } from '../../../contracts/errors.ts'
import type { DashboardContracts } from '../../../contracts/dashboard/index.ts'
import type { SessionProcedure } from '../../../contracts/procedure.ts'

/**
 * The procedures of the dashboard, such as `api.publicApi.get.query({ accountId })`, and of the operator console, such as
 * `operatorApi.account.list.query({})`.
 */
export const { settings: api, operator: operatorApi } = createTRPCClient<DashboardRouter>({
  links: [httpLink({ url: '/settings/trpc' })],
})

type DashboardErrorShape = TRPCErrorShape<DashboardErrorData>

interface TypesOf<C extends SessionProcedure> {
  input: z.input<C['input']>
  output: z.output<C['output']>
  meta: object
  errorShape: DashboardErrorShape
}

type ProcedureOf<C extends SessionProcedure> = C['kind'] extends 'query'
  ? TRPCQueryProcedure<TypesOf<C>>
  : TRPCMutationProcedure<TypesOf<C>>

type RouterRecordOf<Tree> = {
  [Name in keyof Tree]: Tree[Name] extends SessionProcedure ? ProcedureOf<Tree[Name]> : RouterRecordOf<Tree[Name]>
}

interface RootTypes {
  ctx: object
  meta: object
  errorShape: DashboardErrorShape
  transformer: false
}

/** The router type of the dashboard, derived from the contracts. */
type DashboardRouter = TRPCBuiltRouter<RootTypes, RouterRecordOf<DashboardContracts>>
