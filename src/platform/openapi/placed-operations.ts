import type { OpenAPIObject, OperationObject } from '@nestjs/swagger';

const METHODS = ['get', 'post', 'put', 'delete'] as const;

export interface PlacedOperation {
  readonly path: string;
  readonly method: (typeof METHODS)[number];
  readonly operation: OperationObject;
}

/** Every operation of the document, with where it stands: the one place that knows which methods there are. */
export function operationsOf({ paths }: OpenAPIObject): PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation ? [{ path, method, operation }] : [];
    }),
  );
}
