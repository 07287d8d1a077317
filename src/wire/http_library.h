/*
 * wire/http_library.h - libmicrohttpd and the gnutls below it, loaded when an HTTP server opens
 *
 * As grpc_library.h: each function that this room calls stands in both lists. Include this in place of the libraries' headers.
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef WIRE_HTTP_LIBRARY_H
#define WIRE_HTTP_LIBRARY_H

#include <gnutls/gnutls.h>
#include <microhttpd.h>

#include "wire/library.h"

#define HTTP_FUNCTIONS(X) \
    X(MHD_add_response_header) \
    X(MHD_create_response_from_buffer) \
    X(MHD_create_response_from_buffer_with_free_callback) \
    X(MHD_create_response_from_callback) \
    X(MHD_destroy_response) \
    X(MHD_get_connection_info) \
    X(MHD_get_daemon_info) \
    X(MHD_get_timeout) \
    X(MHD_lookup_connection_value) \
    X(MHD_queue_response) \
    X(MHD_quiesce_daemon) \
    X(MHD_resume_connection) \
    X(MHD_run) \
    X(MHD_start_daemon) \
    X(MHD_stop_daemon) \
    X(MHD_suspend_connection) \
    X(gnutls_certificate_verify_peers2)

typedef struct http_functions {
    HTTP_FUNCTIONS(LIBRARY_FUNCTION)
} http_functions;

extern http_functions http_library;

/** Before any other call; cheap when it is there. */
CUZK_STATUS http_library_load(void);

#define MHD_add_response_header http_library.MHD_add_response_header
#define MHD_create_response_from_buffer http_library.MHD_create_response_from_buffer
#define MHD_create_response_from_buffer_with_free_callback \
    http_library.MHD_create_response_from_buffer_with_free_callback
#define MHD_create_response_from_callback http_library.MHD_create_response_from_callback
#define MHD_destroy_response http_library.MHD_destroy_response
#define MHD_get_connection_info http_library.MHD_get_connection_info
#define MHD_get_daemon_info http_library.MHD_get_daemon_info
#define MHD_get_timeout http_library.MHD_get_timeout
#define MHD_lookup_connection_value http_library.MHD_lookup_connection_value
#define MHD_queue_response http_library.MHD_queue_response
#define MHD_quiesce_daemon http_library.MHD_quiesce_daemon
#define MHD_resume_connection http_library.MHD_resume_connection
#define MHD_run http_library.MHD_run
#define MHD_start_daemon http_library.MHD_start_daemon
#define MHD_stop_daemon http_library.MHD_stop_daemon
#define MHD_suspend_connection http_library.MHD_suspend_connection
#define gnutls_certificate_verify_peers2 http_library.gnutls_certificate_verify_peers2

#endif
