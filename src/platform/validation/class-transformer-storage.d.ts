/**
 * Metadata of @Type in class-transformer, which has no public API for it. @nestjs/mapped-types reads it in the same
 * way.
 */
declare module 'class-transformer/cjs/storage.js' {
  export { defaultMetadataStorage } from 'class-transformer/types/storage';
}
