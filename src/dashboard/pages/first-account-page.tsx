import { IconBuildingOff } from '@tabler/icons-react'
import { Navigate, useParams } from 'react-router'
import { useOwner } from '../session/session.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { PageHeader } from '../ui/page-header.tsx'

/** Where an account begins. */
const firstPage = 'overview'

/** Leads to the account that the address names, or to the first one. */
export function FirstAccountPage() {
  const named = useParams()['accountId']
  const { accounts, email } = useOwner()
  const accountId = named ?? accounts[0]?.accountId
  if (accountId !== undefined) return <Navigate to={`/${accountId}/${firstPage}`} replace />
  return (
    <>
      <PageHeader title="Welcome" />
      <EmptyState icon={IconBuildingOff} title="You are a member of no account">
        Ask whoever runs this server to invite {email} to yours.
      </EmptyState>
    </>
  )
}
