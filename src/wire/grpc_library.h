/*
 * wire/grpc_library.h - gRPC's library, loaded when a server or a client opens
 *
 * Nothing refers to it before: prove, verify and setup do not need it, and the loader takes longer over it and the sixty libraries below
 * it than a small proof takes. Its functions have their own names here, which lead to what grpc_library_load has found: each one that
 * this room calls stands in both lists. Include this in place of gRPC's headers.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef WIRE_GRPC_LIBRARY_H
#define WIRE_GRPC_LIBRARY_H

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>
#include <grpc/support/alloc.h>
#include <grpc/support/log.h>

#include "wire/library.h"

#define GRPC_FUNCTIONS(X) \
    X(gpr_free) \
    X(gpr_inf_future) \
    X(gpr_now) \
    X(gpr_set_log_function) \
    X(gpr_time_add) \
    X(gpr_time_from_millis) \
    X(grpc_auth_context_find_properties_by_name) \
    X(grpc_auth_context_peer_is_authenticated) \
    X(grpc_auth_context_release) \
    X(grpc_auth_property_iterator_next) \
    X(grpc_byte_buffer_destroy) \
    X(grpc_byte_buffer_length) \
    X(grpc_byte_buffer_reader_destroy) \
    X(grpc_byte_buffer_reader_init) \
    X(grpc_byte_buffer_reader_next) \
    X(grpc_call_auth_context) \
    X(grpc_call_cancel) \
    X(grpc_call_cancel_with_status) \
    X(grpc_call_details_destroy) \
    X(grpc_call_details_init) \
    X(grpc_call_get_peer) \
    X(grpc_call_start_batch) \
    X(grpc_call_unref) \
    X(grpc_channel_create) \
    X(grpc_channel_create_call) \
    X(grpc_channel_credentials_release) \
    X(grpc_channel_destroy) \
    X(grpc_completion_queue_create_for_next) \
    X(grpc_completion_queue_create_for_pluck) \
    X(grpc_completion_queue_destroy) \
    X(grpc_completion_queue_next) \
    X(grpc_completion_queue_pluck) \
    X(grpc_completion_queue_shutdown) \
    X(grpc_empty_slice) \
    X(grpc_init) \
    X(grpc_insecure_credentials_create) \
    X(grpc_insecure_server_credentials_create) \
    X(grpc_metadata_array_destroy) \
    X(grpc_metadata_array_init) \
    X(grpc_raw_byte_buffer_create) \
    X(grpc_resource_quota_arg_vtable) \
    X(grpc_resource_quota_create) \
    X(grpc_resource_quota_resize) \
    X(grpc_resource_quota_unref) \
    X(grpc_server_add_channel_from_fd) \
    X(grpc_server_add_http2_port) \
    X(grpc_server_cancel_all_calls) \
    X(grpc_server_create) \
    X(grpc_server_credentials_release) \
    X(grpc_server_destroy) \
    X(grpc_server_register_completion_queue) \
    X(grpc_server_request_call) \
    X(grpc_server_shutdown_and_notify) \
    X(grpc_server_start) \
    X(grpc_shutdown) \
    X(grpc_slice_from_copied_buffer) \
    X(grpc_slice_from_copied_string) \
    X(grpc_slice_from_static_buffer) \
    X(grpc_slice_from_static_string) \
    X(grpc_slice_new_with_user_data) \
    X(grpc_slice_unref) \
    X(grpc_ssl_credentials_create_ex) \
    X(grpc_ssl_server_certificate_config_create) \
    X(grpc_ssl_server_credentials_create_options_using_config_fetcher) \
    X(grpc_ssl_server_credentials_create_with_options)

typedef struct grpc_functions {
    GRPC_FUNCTIONS(LIBRARY_FUNCTION)
} grpc_functions;

extern grpc_functions grpc_library;

/** Before any other call; cheap when it is there. */
CUZK_STATUS grpc_library_load(void);

#define gpr_free grpc_library.gpr_free
#define gpr_inf_future grpc_library.gpr_inf_future
#define gpr_now grpc_library.gpr_now
#define gpr_set_log_function grpc_library.gpr_set_log_function
#define gpr_time_add grpc_library.gpr_time_add
#define gpr_time_from_millis grpc_library.gpr_time_from_millis
#define grpc_auth_context_find_properties_by_name \
    grpc_library.grpc_auth_context_find_properties_by_name
#define grpc_auth_context_peer_is_authenticated grpc_library.grpc_auth_context_peer_is_authenticated
#define grpc_auth_context_release grpc_library.grpc_auth_context_release
#define grpc_auth_property_iterator_next grpc_library.grpc_auth_property_iterator_next
#define grpc_byte_buffer_destroy grpc_library.grpc_byte_buffer_destroy
#define grpc_byte_buffer_length grpc_library.grpc_byte_buffer_length
#define grpc_byte_buffer_reader_destroy grpc_library.grpc_byte_buffer_reader_destroy
#define grpc_byte_buffer_reader_init grpc_library.grpc_byte_buffer_reader_init
#define grpc_byte_buffer_reader_next grpc_library.grpc_byte_buffer_reader_next
#define grpc_call_auth_context grpc_library.grpc_call_auth_context
#define grpc_call_cancel grpc_library.grpc_call_cancel
#define grpc_call_cancel_with_status grpc_library.grpc_call_cancel_with_status
#define grpc_call_details_destroy grpc_library.grpc_call_details_destroy
#define grpc_call_details_init grpc_library.grpc_call_details_init
#define grpc_call_get_peer grpc_library.grpc_call_get_peer
#define grpc_call_start_batch grpc_library.grpc_call_start_batch
#define grpc_call_unref grpc_library.grpc_call_unref
#define grpc_channel_create grpc_library.grpc_channel_create
#define grpc_channel_create_call grpc_library.grpc_channel_create_call
#define grpc_channel_credentials_release grpc_library.grpc_channel_credentials_release
#define grpc_channel_destroy grpc_library.grpc_channel_destroy
#define grpc_completion_queue_create_for_next grpc_library.grpc_completion_queue_create_for_next
#define grpc_completion_queue_create_for_pluck grpc_library.grpc_completion_queue_create_for_pluck
#define grpc_completion_queue_destroy grpc_library.grpc_completion_queue_destroy
#define grpc_completion_queue_next grpc_library.grpc_completion_queue_next
#define grpc_completion_queue_pluck grpc_library.grpc_completion_queue_pluck
#define grpc_completion_queue_shutdown grpc_library.grpc_completion_queue_shutdown
#define grpc_empty_slice grpc_library.grpc_empty_slice
#define grpc_init grpc_library.grpc_init
#define grpc_insecure_credentials_create grpc_library.grpc_insecure_credentials_create
#define grpc_insecure_server_credentials_create grpc_library.grpc_insecure_server_credentials_create
#define grpc_metadata_array_destroy grpc_library.grpc_metadata_array_destroy
#define grpc_metadata_array_init grpc_library.grpc_metadata_array_init
#define grpc_raw_byte_buffer_create grpc_library.grpc_raw_byte_buffer_create
#define grpc_resource_quota_arg_vtable grpc_library.grpc_resource_quota_arg_vtable
#define grpc_resource_quota_create grpc_library.grpc_resource_quota_create
#define grpc_resource_quota_resize grpc_library.grpc_resource_quota_resize
#define grpc_resource_quota_unref grpc_library.grpc_resource_quota_unref
#define grpc_server_add_channel_from_fd grpc_library.grpc_server_add_channel_from_fd
#define grpc_server_add_http2_port grpc_library.grpc_server_add_http2_port
#define grpc_server_cancel_all_calls grpc_library.grpc_server_cancel_all_calls
#define grpc_server_create grpc_library.grpc_server_create
#define grpc_server_credentials_release grpc_library.grpc_server_credentials_release
#define grpc_server_destroy grpc_library.grpc_server_destroy
#define grpc_server_register_completion_queue grpc_library.grpc_server_register_completion_queue
#define grpc_server_request_call grpc_library.grpc_server_request_call
#define grpc_server_shutdown_and_notify grpc_library.grpc_server_shutdown_and_notify
#define grpc_server_start grpc_library.grpc_server_start
#define grpc_shutdown grpc_library.grpc_shutdown
#define grpc_slice_from_copied_buffer grpc_library.grpc_slice_from_copied_buffer
#define grpc_slice_from_copied_string grpc_library.grpc_slice_from_copied_string
#define grpc_slice_from_static_buffer grpc_library.grpc_slice_from_static_buffer
#define grpc_slice_from_static_string grpc_library.grpc_slice_from_static_string
#define grpc_slice_new_with_user_data grpc_library.grpc_slice_new_with_user_data
#define grpc_slice_unref grpc_library.grpc_slice_unref
#define grpc_ssl_credentials_create_ex grpc_library.grpc_ssl_credentials_create_ex
#define grpc_ssl_server_certificate_config_create \
    grpc_library.grpc_ssl_server_certificate_config_create
#define grpc_ssl_server_credentials_create_options_using_config_fetcher \
    grpc_library.grpc_ssl_server_credentials_create_options_using_config_fetcher
#define grpc_ssl_server_credentials_create_with_options \
    grpc_library.grpc_ssl_server_credentials_create_with_options

#endif
