import { useState } from 'react'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { LoadingSkeleton } from '../../ui/loading-skeleton.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { AccessSection } from './access-section.tsx'
import { AllowListSection } from './allow-list-section.tsx'
import { KeySection } from './key-section.tsx'
import { LockedOutAlert } from './locked-out-alert.tsx'
import { RateLimitSection } from './rate-limit-section.tsx'
import { SnippetsSection } from './snippets-section.tsx'
import { useApiAccess } from './use-api-access.ts'

export function PublicApiPage() {
  const access = useApiAccess()
  /** In the memory of this page only: the server has forgotten it already. */
  const [issuedKey, setIssuedKey] = useState<string>()
  return (
    <>
      <PageHeader title="Public API" description="How your applications send messages through this account." />
      {access.isPending && <LoadingSkeleton lines={8} />}
      {access.isError && !access.data && <ErrorAlert error={access.error} onRetry={() => void access.refetch()} />}
      {access.data && (
        <>
          <LockedOutAlert access={access.data} />
          <AccessSection enabled={access.data.enabled} />
          <KeySection issuedKey={issuedKey} onIssued={setIssuedKey} storedKey={access.data.key} />
          <AllowListSection allowList={access.data.allowList} you={access.data.you} />
          <RateLimitSection rateLimit={access.data.rateLimit} />
          <SnippetsSection apiKey={issuedKey} />
        </>
      )}
    </>
  )
}
